// Creates an account. Its first owner is invited from the account's page.
import { Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useChange } from '../../../api/use-api.ts';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showSuccess } from '../../../parts/notify.ts';
import { newIdempotencyId } from '../../../parts/idempotency-id.ts';
import { useFormSubmit } from '../../../parts/use-form-submit.ts';
import { ppmFromText } from '../../../parts/multiplier-text.ts';
import { DialogButtons } from '../../../parts/dialog-buttons.tsx';

type Props = {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onCreated: (id: string) => void;
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
  const create = useChange('POST /operator/accounts', { invalidates: ['GET /operator/accounts'] });
  const form = useForm({
    initialValues: { name: '', multiplier: '1' },
    validate: {
      name: (text) => (text.trim() === '' ? 'Give the account a name.' : null),
      multiplier: (text) =>
        ppmFromText(text) === null ? 'Enter a number from 0 to 1000, such as 0.9.' : null,
    },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async ({ name, multiplier }) => {
      const body = {
        request_id: idempotencyId,
        name: name.trim(),
        price_multiplier_ppm: ppmFromText(multiplier)!,
      };
      const { id } = await create.mutateAsync({ body });
      showSuccess(`Account “${name.trim()}” created. Invite its owner next.`);
      onCreated(id);
    },
    { name: 'name', price_multiplier_ppm: 'multiplier' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <TextInput
          label="Name"
          description="The person or company. Members see this name."
          maxLength={200}
          withAsterisk
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <TextInput
          label="Price multiplier"
          description="Multiplies the list prices: 0.9 is 10% less."
          leftSection="×"
          inputMode="decimal"
          autoComplete="off"
          {...form.getInputProps('multiplier')}
        />
        {error && <ErrorNotice error={error} />}
        <DialogButtons submit="Create account" isSubmitting={isSubmitting} onClose={onClose} />
      </Stack>
    </form>
  );
}
