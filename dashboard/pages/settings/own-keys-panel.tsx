// The account's own keys of providers.
import { Button, Drawer, Group, PasswordInput, Select, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { showError, showSuccess } from '../../parts/notify.ts';
import {
  type OwnKey,
  ownKeyName,
  ownKeyPriceText,
  type OwnKeys,
  OwnKeysTable,
} from '../../parts/own-keys-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';

const invalidates = ['GET /accounts/:account/own-keys'] as const;

export function OwnKeysPanel() {
  const ownKeys = useApi('GET /accounts/:account/own-keys', {});
  const [isAdding, setAdding] = useState(false);
  const canAdd = ownKeys.data !== undefined && ownKeys.data.providers.length > 0;
  return (
    <Panel
      title="Own keys"
      description="Your requests can run with your own keys of providers."
      actions={
        canAdd && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
            Add key
          </Button>
        )
      }
    >
      <QueryView query={ownKeys}>
        {(data) => (
          <Stack>
            <Text size="sm">
              {canAdd ? ownKeyPriceText(data) : 'No provider takes own keys here.'}
            </Text>
            <OwnKeysTable keys={data.keys} renderActions={(row) => <Actions row={row} />} />
            <Drawer
              opened={isAdding}
              onClose={() => setAdding(false)}
              title="Add an own key"
              position="right"
            >
              <KeyForm providers={data.providers} onClose={() => setAdding(false)} />
            </Drawer>
          </Stack>
        )}
      </QueryView>
    </Panel>
  );
}

type FormProps = Pick<OwnKeys, 'providers'> & { readonly onClose: () => void };

function KeyForm({ providers, onClose }: FormProps) {
  const add = useChange('POST /accounts/:account/own-keys', { invalidates });
  const form = useForm({
    initialValues: { provider: providers[0] ?? '', apiKey: '', order: 'before' },
    validate: { apiKey: (text) => (text.trim() === '' ? 'Enter the key.' : null) },
  });
  const sending = useFormSubmit(
    form,
    async ({ provider, apiKey, order }) => {
      const body = { provider, api_key: apiKey.trim(), order: order as OwnKey['order'] };
      await add.mutateAsync({ body });
      showSuccess('Key added. Requests use it within seconds.');
      onClose();
    },
    { provider: 'provider', api_key: 'apiKey', order: 'order' },
  );
  return (
    <SubmitForm sending={sending} submit="Add key" onClose={onClose} gap="lg">
      <Select
        label="Provider"
        data={[...providers]}
        allowDeselect={false}
        {...form.getInputProps('provider')}
      />
      <PasswordInput
        label="Key"
        description="Stored encrypted, sent only to the provider, and never shown again."
        autoComplete="off"
        data-autofocus
        withAsterisk
        {...form.getInputProps('apiKey')}
      />
      <Select
        label="Called"
        description="Before the routes of this service, or when they fail."
        data={[
          { value: 'before', label: 'First' },
          { value: 'after', label: 'When others fail' },
        ]}
        allowDeselect={false}
        {...form.getInputProps('order')}
      />
    </SubmitForm>
  );
}

function Actions({ row }: { readonly row: OwnKey }) {
  const path = '/accounts/:account/own-keys/:ownKey' as const;
  const update = useChange(`PATCH ${path}`, { invalidates });
  const remove = useChange(`DELETE ${path}`, { invalidates });
  const params = { ownKey: row.id };
  const other = row.order === 'before' ? 'after' : 'before';
  const label = other === 'before' ? 'Call first' : 'Call last';
  const askToRemove = () =>
    confirm({
      title: `Remove ${ownKeyName(row)}?`,
      text: 'Requests that begin later take the other routes, at their price.',
      action: 'Remove',
      danger: true,
      run: () => remove.mutateAsync({ params }),
      done: 'Key removed.',
    });
  return (
    <Group gap="xs" justify="flex-end">
      <Button
        variant="default"
        size="xs"
        loading={update.isPending}
        aria-label={`${label}: ${ownKeyName(row)}`}
        onClick={() => void update.mutateAsync({ params, body: { order: other } }).catch(showError)}
      >
        {label}
      </Button>
      <Button
        variant="default"
        size="xs"
        aria-label={`Remove ${ownKeyName(row)}`}
        onClick={askToRemove}
      >
        Remove…
      </Button>
    </Group>
  );
}
