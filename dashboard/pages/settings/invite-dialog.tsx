// Inviting somebody: by e-mail where there is a mail server, and by a link to hand over in any case.
import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useAccount } from '../../app/account.ts';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { checkEmail } from '../sign-in/fields.ts';
import { roleOptions, type Role } from './roles.ts';

type Props = { readonly opened: boolean; readonly onClose: () => void };
type Made = Output<'POST /accounts/:account/invitations'> & { readonly email: string };

export function InviteDialog({ opened, onClose }: Props) {
  const [made, setMade] = useState<Made | null>(null);
  const close = () => {
    setMade(null);
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title={made ? 'The invitation is made' : 'Invite somebody'} size="lg">
      {made ? <Link made={made} onClose={close} /> : <Form onMade={setMade} onClose={close} />}
    </Modal>
  );
}

function Form({ onMade, onClose }: { readonly onMade: (made: Made) => void; readonly onClose: () => void }) {
  const { role: own } = useAccount();
  const invite = useChange('POST /accounts/:account/invitations', { invalidates: ['GET /accounts/:account/invitations'] });
  const form = useForm<{ email: string; role: Role }>({
    initialValues: { email: '', role: 'member' },
    validate: { email: checkEmail },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async ({ email, role }) =>
      onMade({ ...(await invite.mutateAsync({ body: { email: email.trim(), role } })), email: email.trim() }),
    { email: 'email', role: 'role' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <TextInput label="E-mail" type="email" data-autofocus {...form.getInputProps('email')} />
        <Select label="Role" data={roleOptions(own)} allowDeselect={false} {...form.getInputProps('role')} />
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isSubmitting}>
            Invite
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Link({ made, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  return (
    <Stack>
      <Text>
        {made.mailed
          ? `A link is on its way to ${made.email}. You can also hand it over yourself:`
          : `Hand this link over to ${made.email}:`}
      </Text>
      <CodeBlock code={made.link} label="The invitation link" />
      <Text size="sm" c="dimmed">
        It works once, for seven days, and is shown only now.
      </Text>
      <Group justify="flex-end">
        <CopyButton text={made.link} label="Copy the link" wide />
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
