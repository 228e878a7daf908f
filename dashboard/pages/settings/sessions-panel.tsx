// Where the user is signed in, and ending it.
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconDevices } from '@tabler/icons-react';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { showDone, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { deviceName } from './device-name.ts';

type Session = Output<'GET /profile/sessions'>['data'][number];

export function SessionsPanel() {
  const sessions = useApi('GET /profile/sessions', {});
  const end = useChange('DELETE /profile/sessions/:session', {
    invalidates: ['GET /profile/sessions'],
    onSuccess: () => showDone('That session is ended.'),
  });
  const endOthers = useChange('POST /profile/sessions/revoke-others', {
    invalidates: ['GET /profile/sessions'],
    onSuccess: () => showDone('You are signed out everywhere else.'),
  });
  const rows = sessions.data?.data.toSorted((one, other) => Number(other.current) - Number(one.current));
  const columns: Column<Session>[] = [
    {
      title: 'Signed in with',
      phone: 'title',
      render: ({ user_agent: userAgent, current }) => (
        <Group gap="xs">
          <Text inherit>{deviceName(userAgent)}</Text>
          {current && (
            <Badge variant="light" color="green">
              This one
            </Badge>
          )}
        </Group>
      ),
    },
    { title: 'Address', render: ({ address }) => address || '–' },
    { title: 'Since', render: ({ created_at: at }) => <TimeAgo at={at} /> },
    {
      title: '',
      align: 'right',
      render: ({ id, current }) =>
        current ? null : (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            onClick={() => void end.mutateAsync({ params: { session: id } }).catch(showError)}
          >
            End
          </Button>
        ),
    },
  ];
  const askForOthers = () =>
    confirm({
      title: 'Sign out everywhere else?',
      text: 'All sessions but this one end at once.',
      action: 'Sign out elsewhere',
      danger: true,
      run: () => endOthers.mutateAsync({}),
    });
  return (
    <Panel
      title="Sessions"
      description="Where you are signed in. Each ends by itself after seven days without use."
      actions={
        (rows?.length ?? 0) > 1 && (
          <Button variant="default" onClick={askForOthers}>
            Sign out elsewhere
          </Button>
        )
      }
      flush
    >
      <Stack gap={0}>
        <DataTable
          label="Sessions"
          columns={columns}
          rows={rows}
          error={sessions.error}
          onRetry={() => void sessions.refetch()}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={IconDevices} title="No sessions" />}
        />
      </Stack>
    </Panel>
  );
}
