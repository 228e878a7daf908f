// The report by account, model, key or day: the same figures as `tollgate report`.
import { SegmentedControl, Text } from '@mantine/core';
import { IconReceipt } from '@tabler/icons-react';
import type { ApiError } from '../../../api/api-error.ts';
import type { Output } from '../../../api/client.ts';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { AppLink } from '../../../parts/link.tsx';
import { Money } from '../../../parts/money.tsx';
import { countText } from '../../../parts/number-text.ts';
import { Panel } from '../../../parts/panel.tsx';
import { Day } from '../../../parts/time-ago.tsx';

type Row = Output<'GET /operator/report'>['rows'][number];
type Group = keyof typeof groups;

const groups = { account: 'Accounts', model: 'Models', key: 'Keys', day: 'Days' } as const;

export function isGroup(name: string | undefined): name is Group {
  return name !== undefined && Object.hasOwn(groups, name);
}

type Props = {
  readonly by: Group;
  readonly rows: readonly Row[] | undefined;
  readonly error: ApiError | null;
  readonly onGroup: (group: Group) => void;
};

export function Breakdown({ by, rows, error, onGroup }: Props) {
  return (
    <div id="breakdown">
      <Panel
        title={by === 'account' ? 'Top accounts' : groups[by]}
        description={
          by === 'day' ? 'The newest day first.' : 'The highest revenue first, at most 100.'
        }
        actions={
          <SegmentedControl
            aria-label="Group by"
            size="xs"
            value={by}
            onChange={(name) => isGroup(name) && onGroup(name)}
            data={Object.entries(groups).map(([value, label]) => ({ value, label }))}
          />
        }
        flush
      >
        <DataTable
          label="Report"
          rows={rows}
          error={error}
          columns={[nameColumn(by), ...columns]}
          rowKey={({ id }) => id}
          empty={
            <EmptyState
              icon={IconReceipt}
              title="Nothing was charged"
              text="Charged requests of these days appear here."
            />
          }
        />
      </Panel>
    </div>
  );
}

function nameColumn(by: Group): Column<Row> {
  const titles = { account: 'Account', model: 'Model', key: 'Key', day: 'Day' };
  return { title: titles[by], phone: 'title', render: (row) => <Name by={by} row={row} /> };
}

function Name({ by, row: { id, name } }: { readonly by: Group; readonly row: Row }) {
  switch (by) {
    case 'account':
      return (
        <AppLink to="/operator/accounts/$accountId" params={{ accountId: id }}>
          {name || id}
        </AppLink>
      );
    case 'key':
      return (
        <AppLink to="/operator/keys" search={{ q: id }}>
          {name || id}
        </AppLink>
      );
    case 'model':
      return id === '' ? (
        <Text inherit c="dimmed">
          Failed requests
        </Text>
      ) : (
        <AppLink to="/operator/catalogue" search={{ q: id }}>
          {name ?? id}
        </AppLink>
      );
    case 'day':
      return (
        <AppLink
          to="/operator"
          search={(before) => ({ ...before, from: id, to: id, by: undefined })}
        >
          <Day at={id} />
        </AppLink>
      );
  }
}

const columns: readonly Column<Row>[] = [
  { title: 'Requests', align: 'right', render: ({ requests }) => countText(requests) },
  {
    title: 'Revenue',
    align: 'right',
    render: ({ revenue_micros: micros }) => <Money short micros={micros} />,
  },
  {
    title: 'Cost',
    align: 'right',
    render: ({ cost_micros: micros }) => <Money short micros={micros} />,
  },
  {
    title: 'Losses',
    align: 'right',
    render: (row) => <Money short micros={row.failed_micros + row.uncollected_micros} />,
  },
  {
    title: 'Margin',
    align: 'right',
    render: ({ margin_micros: micros }) => (
      <Money short micros={micros} c={micros < 0 ? 'red' : undefined} />
    ),
  },
];
