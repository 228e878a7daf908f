import { Badge, Code, Group, Text } from '@mantine/core';
import { IconMoodCheck } from '@tabler/icons-react';
import type { FailedRequest } from '../../../src/dashboard-contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { useMode } from '../../api/account.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Panel } from '../../parts/panel.tsx';
import { DateTime } from '../../parts/time-ago.tsx';

/** Refused and failed requests, which are free. */
export function FailedRequests() {
  const mode = useMode();
  const failed = useApi('GET /accounts/:account/failed-requests', { query: { mode } });
  return (
    <Panel
      flush
      title="Failed requests"
      description="The latest 100 of the last 30 days. None was charged."
    >
      <DataTable<FailedRequest>
        label="Failed requests"
        rows={failed.data?.data}
        error={failed.error}
        onRetry={() => void failed.refetch()}
        columns={columns}
        rowKey={({ request_id: id }) => id}
        empty={
          <EmptyState
            icon={IconMoodCheck}
            title="No failed requests"
            text="Refused and failed requests appear here."
          />
        }
      />
    </Panel>
  );
}

const columns: readonly Column<FailedRequest>[] = [
  { title: 'Time', render: ({ created_at: at }) => <DateTime at={at} /> },
  { title: 'Error', phone: 'title', render: (request) => <ErrorCell request={request} /> },
  {
    title: 'Model and endpoint',
    render: ({ model, path }) => (
      <>
        <Text span inherit display="block" style={{ overflowWrap: 'anywhere' }}>
          {model ?? 'No model'}
        </Text>
        <Text span display="block" size="sm" c="dimmed" ff="monospace">
          {path}
        </Text>
      </>
    ),
  },
  { title: 'Key', render: ({ key }) => key.name || 'Unnamed' },
  {
    title: 'Request',
    render: ({ request_id: id }) => (
      <Group component="span" display="inline-flex" gap={4} wrap="nowrap">
        <Code title={id}>…{id.slice(-8)}</Code>
        <CopyButton text={id} label={`Copy request ID ${id}`} size="xs" />
      </Group>
    ),
  },
];

function ErrorCell({
  request: { status, code, meaning, remedy },
}: {
  readonly request: FailedRequest;
}) {
  return (
    <>
      <Group component="span" display="inline-flex" gap={6}>
        <Badge component="span" color={status >= 500 ? 'red' : 'orange'} size="sm">
          {status}
        </Badge>
        <Code>{code}</Code>
      </Group>
      <Text span display="block" size="sm" c="dimmed" fw={400} maw={380}>
        {meaning} {remedy}
      </Text>
    </>
  );
}
