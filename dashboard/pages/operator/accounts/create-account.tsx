// Creates an account, and with it a first key and an invitation of its first owner.
import { Alert, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRef, useState } from 'react';
import { useChange } from '../../../api/use-api.ts';
import { checkEmail } from '../../../parts/field-checks.ts';
import { CodeBlock } from '../../../parts/code-block.tsx';
import { newIdempotencyId } from '../../../parts/idempotency-id.ts';
import { ButtonLink } from '../../../parts/link.tsx';
import { microsFromText } from '../../../parts/money-text.ts';
import { ppmFromText } from '../../../parts/multiplier-text.ts';
import { showSuccess } from '../../../parts/notify.ts';
import { SubmitForm } from '../../../parts/submit-form.tsx';
import { useFormSubmit } from '../../../parts/use-form-submit.ts';

type Props = {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onCreated: (id: string) => void;
};

/** What was made, and is shown once. */
type Made = {
  readonly id: string;
  readonly name: string;
  readonly secret: string | null;
  readonly link: string | null;
};

export function CreateAccount({ opened, onClose, onCreated }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Create account">
      <CreateForm onClose={onClose} onCreated={onCreated} />
    </Modal>
  );
}

function CreateForm({ onClose, onCreated }: Omit<Props, 'opened'>) {
  const [idempotencyId] = useState(newIdempotencyId);
  const [made, setMade] = useState<Made | null>(null);
  // A second attempt creates the account no second time (same id), and keeps what the first one made.
  const kept = useRef<{ secret: string | null; link: string | null }>({ secret: null, link: null });
  const invalidates = ['GET /operator/accounts', 'GET /operator/keys'] as const;
  const create = useChange('POST /operator/accounts', { invalidates });
  const createKey = useChange('POST /operator/accounts/:account/keys', { invalidates });
  const invite = useChange('POST /operator/accounts/:account/invitations', { invalidates });
  const form = useForm({
    initialValues: { name: '', multiplier: '1', email: '', keyName: '', cap: '' },
    validate: {
      name: (text) => (text.trim() === '' ? 'Give the account a name.' : null),
      multiplier: (text) =>
        ppmFromText(text) === null ? 'Enter a number from 0 to 1000, such as 0.9.' : null,
      email: (text) => (text.trim() === '' ? null : checkEmail(text)),
      cap: (text) =>
        text.trim() === '' || microsFromText(text) !== null ? null : 'Enter an amount, such as 50.',
    },
  });
  const sending = useFormSubmit(
    form,
    async (values) => {
      const name = values.name.trim();
      const body = {
        request_id: idempotencyId,
        name,
        price_multiplier_ppm: ppmFromText(values.multiplier)!,
      };
      const { id } = await create.mutateAsync({ body });
      const params = { account: id };
      const { current } = kept;
      const email = values.email.trim();
      if (email !== '' && current.link === null)
        current.link = (await invite.mutateAsync({ params, body: { email, role: 'owner' } })).link;
      const keyName = values.keyName.trim();
      const monthly_cap_micros = values.cap.trim() === '' ? null : microsFromText(values.cap);
      if (keyName !== '' && current.secret === null)
        current.secret = (
          await createKey.mutateAsync({
            params,
            body: { mode: 'live', name: keyName, monthly_cap_micros },
          })
        ).secret;
      showSuccess(`Account “${name}” created.`);
      if (current.secret === null && current.link === null) onCreated(id);
      else setMade({ id, name, ...current });
    },
    {
      name: 'name',
      price_multiplier_ppm: 'multiplier',
      email: 'email',
      monthly_cap_micros: 'cap',
    },
  );
  if (made) return <Done made={made} />;
  return (
    <SubmitForm sending={sending} submit="Create account" onClose={onClose}>
      <TextInput
        label="Name"
        description="The person or company. Members see this name."
        maxLength={200}
        withAsterisk
        data-autofocus
        {...form.getInputProps('name')}
      />
      <TextInput
        label="Price multiplier"
        description="Multiplies the list prices: 0.9 is 10% less."
        leftSection="×"
        inputMode="decimal"
        {...form.getInputProps('multiplier')}
      />
      <TextInput
        label="First owner"
        description="E-mail address of whom to invite. Leave it empty to do so later."
        type="email"
        {...form.getInputProps('email')}
      />
      <TextInput
        label="First live key"
        description="Its name. Leave it empty for none."
        maxLength={200}
        {...form.getInputProps('keyName')}
      />
      {form.values.keyName.trim() !== '' && (
        <TextInput
          label="Most spend of the key in a month"
          description="USD; empty: the balance is the only limit."
          leftSection="$"
          inputMode="decimal"
          {...form.getInputProps('cap')}
        />
      )}
    </SubmitForm>
  );
}

function Done({ made: { id, name, secret, link } }: { readonly made: Made }) {
  return (
    <Stack>
      <Alert color="orange" variant="light">
        Copy {secret !== null && link !== null ? 'both' : 'it'} now, for {name}. You will not see{' '}
        {secret !== null && link !== null ? 'them' : 'it'} again.
      </Alert>
      {secret !== null && <CodeBlock code={secret} label="The new key" />}
      {link !== null && <CodeBlock code={link} label="Link for the owner" />}
      <ButtonLink to="/operator/accounts/$accountId" params={{ accountId: id }}>
        Open the account
      </ButtonLink>
    </Stack>
  );
}
