// One key: where it stands, and every control of it to change.
import { Alert, Button, Divider, Drawer, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconBan, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useIsAtLeast } from '../../app/account.ts';
import type { ApiError } from '../../api/api-error.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showFieldError } from '../../parts/form-errors.ts';
import { AppLink } from '../../parts/link.tsx';
import { showDone } from '../../parts/notify.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { DateTime, TimeAgo } from '../../parts/time-ago.tsx';
import { CapBar } from './cap-bar.tsx';
import { useKeyActions } from './key-actions.tsx';
import { KeyFields } from './key-fields.tsx';
import { KeyState } from './key-state.tsx';
import { changedControls, fieldNames, problemsOf, valuesOf, type Key, type KeyValues } from './key-values.ts';

type Props = {
  /** null: closed. */
  readonly keyId: string | null;
  readonly onClose: () => void;
};

export function KeyDrawer({ keyId, onClose }: Props) {
  return (
    <Drawer.Root opened={keyId !== null} onClose={onClose} position="right" size="lg">
      <Drawer.Overlay />
      <Drawer.Content>{keyId !== null && <KeyDetail keyId={keyId} onClose={onClose} />}</Drawer.Content>
    </Drawer.Root>
  );
}

function KeyDetail({ keyId, onClose }: { readonly keyId: string; readonly onClose: () => void }) {
  const query = useApi('GET /accounts/:account/keys/:key', { params: { key: keyId } });
  return (
    <>
      <Drawer.Header>
        <Drawer.Title>{query.data?.name || 'Key'}</Drawer.Title>
        <Drawer.CloseButton aria-label="Close" />
      </Drawer.Header>
      <Drawer.Body>
        <QueryView query={query}>{(key) => <KeyBody row={key} onClose={onClose} />}</QueryView>
      </Drawer.Body>
    </>
  );
}

function KeyBody({ row, onClose }: { readonly row: Key; readonly onClose: () => void }) {
  const canChange = useIsAtLeast('admin');
  return (
    <Stack gap="lg">
      <Standing row={row} />
      <Divider />
      <EditForm key={row.id} row={row} readOnly={!canChange || row.state === 'revoked'} onClose={onClose} />
      {canChange && row.state !== 'revoked' && <Ending row={row} />}
    </Stack>
  );
}

function Standing({ row }: { readonly row: Key }) {
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Text ff="monospace">{row.hint}</Text>
        <KeyState state={row.state} />
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="lg">
        <div>
          <Text size="sm" c="dimmed" mb={2}>
            Today
          </Text>
          <CapBar detailed label="Spent today" spend={row.today} capMicros={row.daily_cap_micros} />
        </div>
        <div>
          <Text size="sm" c="dimmed" mb={2}>
            This month
          </Text>
          <CapBar detailed label="Spent this month" spend={row.this_month} capMicros={row.monthly_cap_micros} />
        </div>
      </SimpleGrid>
      <Text component="div" size="sm" c="dimmed">
        Created <DateTime at={row.created_at} /> · last used <TimeAgo at={row.last_used_at} never="never" />
        {row.disabled_at !== null && (
          <>
            {' '}
            · disabled <TimeAgo at={row.disabled_at} />
          </>
        )}
        {row.revoked_at !== null && (
          <>
            {' '}
            · revoked <TimeAgo at={row.revoked_at} />
          </>
        )}
      </Text>
      <Group gap={4}>
        <Text size="sm" c="dimmed">
          Id {row.id}
        </Text>
        <CopyButton text={row.id} label="Copy the id" />
        <AppLink to="/usage" search={(before) => ({ ...before, key: row.id })} size="sm" ml="auto">
          Requests of this key
        </AppLink>
      </Group>
    </Stack>
  );
}

type EditProps = { readonly row: Key; readonly readOnly: boolean; readonly onClose: () => void };

function EditForm({ row, readOnly, onClose }: EditProps) {
  const [before, setBefore] = useState(valuesOf(row));
  const [error, setError] = useState<ApiError | null>(null);
  const update = useChange('PATCH /accounts/:account/keys/:key', {
    invalidates: ['GET /accounts/:account/keys', 'GET /accounts/:account/keys/:key'],
  });
  const form = useForm<KeyValues>({ initialValues: before, validate: problemsOf });
  const submit = async (values: KeyValues) => {
    setError(null);
    try {
      const after = await update.mutateAsync({ params: { key: row.id }, body: changedControls(before, values) });
      setBefore(valuesOf(after));
      showDone(`The key “${after.name}” is changed. Gateways follow within seconds.`);
      onClose();
    } catch (thrown) {
      setError(showFieldError(form, thrown, fieldNames));
    }
  };
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="lg">
        {row.state === 'revoked' && (
          <Alert color="red" variant="light">
            This key is revoked, and that is for good. Make another to go on.
          </Alert>
        )}
        <KeyFields form={form} readOnly={readOnly} />
        {error && <ErrorNotice error={error} />}
        {!readOnly && (
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={update.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={update.isPending} disabled={!form.isDirty()}>
              Save changes
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}

function Ending({ row }: { readonly row: Key }) {
  const actions = useKeyActions();
  return (
    <>
      <Divider />
      <Group gap="sm">
        {row.disabled_at === null ? (
          <Button variant="default" leftSection={<IconPlayerPause size={16} aria-hidden />} onClick={() => actions.disable(row)}>
            Disable
          </Button>
        ) : (
          <Button
            variant="default"
            leftSection={<IconPlayerPlay size={16} aria-hidden />}
            onClick={() => void actions.enable(row)}
          >
            Enable
          </Button>
        )}
        <Button variant="light" color="red" leftSection={<IconBan size={16} aria-hidden />} onClick={() => actions.revoke(row)}>
          Revoke…
        </Button>
      </Group>
    </>
  );
}
