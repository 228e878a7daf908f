// The user's sessions, and buttons to end them.
import { Badge, Button, Group, Text, VisuallyHidden } from '@mantine/core';
import { IconDevices } from '@tabler/icons-react';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { showSuccess, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { deviceName } from './device-name.ts';

type Session = Output<'GET /profile/sessions'>['data'][number];

export function SessionsPanel() {
  const sessions = useApi('GET /profile/sessions', {});
  const endOthers = useChange('POST /profile/sessions/revoke-others', {
    invalidates: ['GET /profile/sessions'],
    onSuccess: () => showSuccess('Signed out everywhere else.'),
  });
  const rows = sessions.data?.data.toSorted(
    (one, other) => Number(other.current) - Number(one.current),
  );
  const confirmEndOthers = () =>
    confirm({
      title: 'Sign out everywhere else?',
      text: 'All your other sessions end immediately.',
      action: 'Sign out elsewhere',
      danger: true,
      run: () => endOthers.mutateAsync({}),
    });
  return (
    <Panel
      title="Sessions"
      description="Where you are signed in. A session ends after seven days without use."
      actions={
        rows?.some(({ current }) => !current) && (
          <Button variant="default" onClick={confirmEndOthers}>
            Sign out everywhere else
          </Button>
        )
      }
      flush
    >
      <DataTable
        label="Sessions"
        columns={columns}
        rows={rows}
        error={sessions.error}
        onRetry={() => void sessions.refetch()}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={IconDevices} title="No sessions" />}
      />
    </Panel>
  );
}

const columns: readonly Column<Session>[] = [
  {
    title: 'Signed in with',
    value: ({ user_agent: userAgent }) => deviceName(userAgent),
    phone: 'title',
    render: ({ user_agent: userAgent, current }) => (
      <Group gap="xs">
        <Text inherit fw={500} title={userAgent}>
          {deviceName(userAgent)}
        </Text>
        {current && <Badge color="green">This session</Badge>}
      </Group>
    ),
  },
  {
    title: 'Address',
    value: ({ address }) => address,
    render: ({ address }) => address || 'Unknown',
  },
  { title: 'Signed in', kind: 'ago', value: ({ created_at: at }) => at },
  {
    title: '',
    width: 120,
    render: (session) => (session.current ? null : <EndButton session={session} />),
  },
];

function EndButton({
  session: { id, user_agent: userAgent, address },
}: {
  readonly session: Session;
}) {
  const end = useChange('DELETE /profile/sessions/:session', {
    invalidates: ['GET /profile/sessions'],
    onSuccess: () => showSuccess('Session ended.'),
  });
  return (
    <Button
      variant="subtle"
      color="red"
      size="compact-sm"
      loading={end.isPending}
      onClick={() => end.mutate({ params: { session: id } }, { onError: showError })}
    >
      Sign out
      <VisuallyHidden>
        {' '}
        {deviceName(userAgent)} {address}
      </VisuallyHidden>
    </Button>
  );
}
