import { Badge, Button, Text } from '@mantine/core';
import { IconStack2 } from '@tabler/icons-react';
import { useIsAtLeast, useMode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApiPages, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { CutText } from '../../parts/cut-text.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Money } from '../../parts/money.tsx';
import { showSuccess } from '../../parts/notify.ts';
import { countText } from '../../parts/number-text.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { DateTime, TimeAgo } from '../../parts/time-ago.tsx';

type Batch = Output<'GET /accounts/:account/batches'>['data'][number];

const list = 'GET /accounts/:account/batches';
const refetchMs = 10_000;

export function Page() {
  return (
    <>
      <PageHeader
        title="Batches"
        description="Many requests sent at once and answered within a day."
      />
      <Batches />
    </>
  );
}

export function Batches() {
  const mode = useMode();
  const canCancel = useIsAtLeast('admin');
  const pages = useApiPages(list, { query: { mode } }, refetchMs);
  const hasRunning = pages.rows?.some(isRunning);
  return (
    <Panel flush>
      <DataTable
        label="Batches"
        pages={pages}
        columns={canCancel && hasRunning ? [...columns, cancelColumn] : columns}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            icon={IconStack2}
            title={`No ${mode} batches yet`}
            text="Programs create them with POST /v1/batches or /v1/messages/batches. A batch is removed with its results, after 30 days or earlier."
          />
        }
      />
    </Panel>
  );
}

const states: Readonly<
  Record<Batch['status'], { readonly label: string; readonly color: string }>
> = {
  in_progress: { label: 'Running', color: 'blue' },
  cancelling: { label: 'Cancelling', color: 'orange' },
  completed: { label: 'Completed', color: 'green' },
  cancelled: { label: 'Cancelled', color: 'gray' },
  expired: { label: 'Expired', color: 'orange' },
};

const columns: readonly Column<Batch>[] = [
  {
    title: 'Created',
    kind: 'time',
    render: ({ created_at: at }) => <DateTime at={at} short />,
  },
  {
    title: 'Batch',
    phone: 'title',
    render: ({ id, key }) => (
      <>
        <CutText ff="monospace" text={id} />
        <CutText block size="xs" c="dimmed" text={key.name || 'Unnamed'} />
      </>
    ),
  },
  {
    title: 'Endpoint',
    tablet: 'hidden',
    render: ({ endpoint }) => <CutText text={endpoint} />,
  },
  {
    title: 'Status',
    render: ({ status, expires_at: expires, ended_at: ended }) => (
      <>
        <Badge color={states[status].color}>{states[status].label}</Badge>
        <Text size="xs" c="dimmed">
          {ended === null ? 'expires ' : ''}
          <TimeAgo inherit at={ended ?? expires} />
        </Text>
      </>
    ),
  },
  {
    title: 'Lines',
    align: 'right',
    render: ({ lines }) => (
      <>
        <Text span inherit style={{ whiteSpace: 'nowrap' }}>
          {countText(lines.succeeded)} of {countText(lines.total)}
        </Text>
        <Text size="xs" c="dimmed">
          {otherLines(lines)}
        </Text>
      </>
    ),
  },
  {
    title: 'Cost',
    kind: 'money',
    value: ({ cost_micros: micros }) => micros,
    render: ({ cost_micros: cost, held_micros: held }) => (
      <>
        <Money micros={cost} />
        {held > 0 && (
          <Text size="xs" c="dimmed">
            <Money micros={held} inherit /> held
          </Text>
        )}
      </>
    ),
  },
];

const cancelColumn: Column<Batch> = {
  title: '',
  render: (batch) => isRunning(batch) && <CancelButton batch={batch} />,
};

function isRunning({ status }: Batch): boolean {
  return status === 'in_progress';
}

/** `3 failed, 2 expired` */
function otherLines({ failed, cancelled, expired }: Batch['lines']): string {
  return Object.entries({ failed, cancelled, expired })
    .flatMap(([name, lines]) => (lines > 0 ? [`${countText(lines)} ${name}`] : []))
    .join(', ');
}

function CancelButton({ batch: { id } }: { readonly batch: Batch }) {
  const cancel = useChange('POST /accounts/:account/batches/:batch/cancel', {
    invalidates: [list],
  });
  const ask = () =>
    confirm({
      // Not "Cancel": the button that closes the dialog has that name.
      title: 'End the batch?',
      text: 'No further line begins. Lines that were answered, or that a provider has run by then, are paid.',
      action: 'End the batch',
      danger: true,
      run: async () => {
        await cancel.mutateAsync({ params: { batch: id } });
        showSuccess('The batch ends as soon as its running lines do.');
      },
    });
  return (
    <Button variant="default" size="xs" aria-label={`End ${id}`} onClick={ask}>
      End…
    </Button>
  );
}
