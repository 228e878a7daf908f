// A new account. Its first owner is invited from its own page.
import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { useChange } from '../../../api/use-api.ts';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showFieldError } from '../../../parts/form-errors.ts';
import { showDone } from '../../../parts/notify.ts';
import { newRequestId } from '../../../parts/request-id.ts';
import { ppmFromText } from '../factor-text.ts';

type Props = { readonly opened: boolean; readonly onClose: () => void; readonly onCreated: (id: string) => void };

export function CreateAccount({ opened, onClose, onCreated }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Create account">
      <CreateForm onClose={onClose} onCreated={onCreated} />
    </Modal>
  );
}

function CreateForm({ onClose, onCreated }: Omit<Props, 'opened'>) {
  const [error, setError] = useState<ApiError | null>(null);
  const [requestId] = useState(newRequestId);
  const create = useChange('POST /operator/accounts', { invalidates: ['GET /operator/accounts'] });
  const form = useForm({
    initialValues: { name: '', factor: '1' },
    validate: {
      name: (text) => (text.trim() === '' ? 'Give the account a name.' : null),
      factor: (text) => (ppmFromText(text) === null ? 'A factor from 0 to 1000, such as 0.9.' : null),
    },
  });
  const submit = async ({ name, factor }: { readonly name: string; readonly factor: string }) => {
    setError(null);
    try {
      const body = { request_id: requestId, name: name.trim(), price_multiplier_ppm: ppmFromText(factor)! };
      const { id } = await create.mutateAsync({ body });
      showDone(`The account “${name.trim()}” is made. Invite its owner next.`);
      onCreated(id);
    } catch (thrown) {
      setError(showFieldError(form, thrown, { name: 'name', price_multiplier_ppm: 'factor' }));
    }
  };
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack>
        <TextInput
          label="Name"
          description="Of the person or company, as its members see it."
          maxLength={200}
          withAsterisk
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <TextInput
          label="Pays"
          description="Times the list prices: 1 is the list price, 0.9 ten percent less."
          leftSection="×"
          inputMode="decimal"
          autoComplete="off"
          {...form.getInputProps('factor')}
        />
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={create.isPending}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create account
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
