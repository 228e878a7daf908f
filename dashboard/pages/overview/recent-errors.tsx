import { Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { Output } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { CutText } from '../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';

type RecentError = Output<'GET /accounts/:account/overview'>['recent_errors'][number];

/** Renders nothing when there were no errors. */
export function RecentErrors({ errors }: { readonly errors: readonly RecentError[] }) {
  const navigate = useNavigate();
  if (errors.length === 0) return null;
  return (
    <Panel title="Recent errors" description="The last ten. A click shows why." flush>
      <DataTable
        label="Recent errors"
        rows={errors}
        columns={columns}
        rowKey={(error) => error.request_id}
        onOpen={({ request_id: request }) =>
          void navigate({
            to: '/requests',
            search: (before) => ({ account: before.account, mode: before.mode, request }),
          })
        }
        dense
        empty={null}
      />
    </Panel>
  );
}

const columns: readonly Column<RecentError>[] = [
  { title: 'When', kind: 'ago', render: (error) => <TimeAgo at={error.created_at} /> },
  { title: 'Error', phone: 'title', render: (error) => error.code },
  {
    title: 'Model',
    render: ({ model }) => (model === null ? '–' : <CutText text={model} />),
  },
  {
    title: 'Key',
    render: ({ key }) => <CutText text={key.name || key.id} />,
  },
  { title: 'Endpoint', phone: 'hidden', render: (error) => error.path },
  {
    title: 'Request ID',
    tablet: 'hidden',
    render: (error) => (
      <Group gap={4} wrap="nowrap" display="inline-flex">
        <CutText ff="monospace" size="sm" text={error.request_id} />
        <CopyButton text={error.request_id} label="Copy request ID" />
      </Group>
    ),
  },
];
