// One key: its status, and a form to change it.
import { Alert, Button, Divider, Drawer, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconBan, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useIsAtLeast } from '../../api/account.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { AccountLink } from '../../parts/account-link.tsx';
import { showSuccess } from '../../parts/notify.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { DateTime, TimeAgo } from '../../parts/time-ago.tsx';
import { CapBar } from './cap-bar.tsx';
import { useKeyActions } from './key-actions.tsx';
import { KeyOwner } from './key-owner.tsx';
import { KeyFields } from './key-fields.tsx';
import { KeepsBodies } from '../../parts/keeps-bodies.tsx';
import { KeyState } from '../../parts/key-state.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import {
  changedControls,
  fieldNames,
  keyTitle,
  problemsOf,
  valuesOf,
  type Key,
  type KeyValues,
} from './key-values.ts';

type Props = {
  /** Null closes the drawer. */
  readonly keyId: string | null;
  readonly onClose: () => void;
};

export function KeyDrawer({ keyId, onClose }: Props) {
  return (
    <Drawer.Root opened={keyId !== null} onClose={onClose} position="right" size="lg">
      <Drawer.Overlay />
      <Drawer.Content>
        {keyId !== null && <KeyDetail keyId={keyId} onClose={onClose} />}
      </Drawer.Content>
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
      <Status row={row} />
      <KeyOwner row={row} />
      <Divider />
      <EditForm
        key={row.id}
        row={row}
        readOnly={!canChange || row.state === 'revoked'}
        onClose={onClose}
      />
      {canChange && row.state !== 'revoked' && <StopActions row={row} />}
    </Stack>
  );
}

function Status({ row }: { readonly row: Key }) {
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Text ff="monospace">{row.hint}</Text>
        <KeyState state={row.state} />
        {row.body_days !== null && <KeepsBodies days={row.body_days} />}
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
          <CapBar
            detailed
            label="Spent this month"
            spend={row.this_month}
            capMicros={row.monthly_cap_micros}
          />
        </div>
      </SimpleGrid>
      <Text component="div" size="sm" c="dimmed">
        Created <DateTime at={row.created_at} zoned /> · last used{' '}
        <TimeAgo at={row.last_used_at} never="never" />
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
          ID {row.id}
        </Text>
        <CopyButton text={row.id} label="Copy ID" />
        <AccountLink page="requests" filters={{ key: row.id }} size="sm" ml="auto">
          View requests
        </AccountLink>
      </Group>
    </Stack>
  );
}

type EditProps = { readonly row: Key; readonly readOnly: boolean; readonly onClose: () => void };

function EditForm({ row, readOnly, onClose }: EditProps) {
  const [before, setBefore] = useState(valuesOf(row));
  const update = useChange('PATCH /accounts/:account/keys/:key', {
    invalidates: ['GET /accounts/:account/keys', 'GET /accounts/:account/keys/:key'],
  });
  const form = useForm<KeyValues>({ initialValues: before, validate: problemsOf });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async (values) => {
      const after = await update.mutateAsync({
        params: { key: row.id },
        body: changedControls(before, values),
      });
      setBefore(valuesOf(after));
      showSuccess(`Key “${keyTitle(after)}” saved. Changes apply within seconds.`);
      onClose();
    },
    fieldNames,
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="lg">
        {row.state === 'revoked' && (
          <Alert color="red" variant="light">
            This key is permanently revoked. Create a new one instead.
          </Alert>
        )}
        <KeyFields form={form} readOnly={readOnly} />
        {error && <ErrorNotice error={error} />}
        {!readOnly && (
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={isSubmitting}>
              Cancel
            </Button>
            <Button type="submit" loading={isSubmitting} disabled={!form.isDirty()}>
              Save changes
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}

function StopActions({ row }: { readonly row: Key }) {
  const actions = useKeyActions();
  return (
    <>
      <Divider />
      <Group gap="sm">
        {row.disabled_at === null ? (
          <Button
            variant="default"
            leftSection={<IconPlayerPause size={16} aria-hidden />}
            onClick={() => actions.disable(row)}
          >
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
        <Button
          variant="light"
          color="red"
          leftSection={<IconBan size={16} aria-hidden />}
          onClick={() => actions.revoke(row)}
        >
          Revoke…
        </Button>
      </Group>
    </>
  );
}
