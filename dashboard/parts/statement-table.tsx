// An account's statement, newest first: each credit and debit, and the charges of each day.
import { Anchor, Badge, SegmentedControl, Text } from '@mantine/core';
import { IconReceipt } from '@tabler/icons-react';
import type { Output } from '../api/client.ts';
import type { Pages } from '../api/use-api.ts';
import { DataTable, type Column } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { Money } from './money.tsx';
import { countText } from './number-text.ts';
import { DateTime, Day } from './time-ago.tsx';
import { useUrlState } from './url-state.ts';

type Line = Output<'GET /accounts/:account/statement'>['data'][number];

type Props = {
  readonly pages: Pages<Line>;
  /** Shown when the statement is empty. */
  readonly emptyText: string;
  /** Returns the address of a credit's receipt; null: it has none. Absent: no column for them. */
  readonly receiptOf?: (line: Line) => string | null;
};

type Only = 'adjustments' | 'charges';
const kinds = [
  { value: 'all', label: 'All' },
  { value: 'adjustments', label: 'Credits and debits' },
  { value: 'charges', label: 'Charges' },
];

/** The statement's filter by kind of entry, kept in the page's address. `query`: for the API call. */
export function useStatementKinds() {
  const [only, setState] = useUrlState(({ only: name }): Only | undefined =>
    name === 'adjustments' || name === 'charges' ? name : undefined,
  );
  const choice = (
    <SegmentedControl
      aria-label="Entries"
      size="xs"
      data={kinds}
      value={only ?? 'all'}
      onChange={(value) => setState({ only: value === 'all' ? undefined : value })}
    />
  );
  return { query: only && { only }, choice };
}

export function StatementTable({ pages, emptyText, receiptOf }: Props) {
  return (
    <DataTable
      label="Statement"
      pages={pages}
      columns={receiptOf ? [...columns, receiptColumn(receiptOf)] : columns}
      rowKey={(line) => (line.kind === 'charges' ? line.day : line.id)}
      empty={<EmptyState icon={IconReceipt} title="No entries yet" text={emptyText} />}
    />
  );
}

const columns: readonly Column<Line>[] = [
  {
    title: 'Entry',
    phone: 'title',
    value: (line) => line.kind,
    render: (line) => <Entry line={line} />,
  },
  {
    title: 'Date',
    kind: 'time',
    value: (line) => (line.kind === 'charges' ? line.day : line.created_at),
    render: (line) =>
      line.kind === 'charges' ? (
        <>
          <Day at={line.day} />{' '}
          <Text span inherit c="dimmed">
            UTC day
          </Text>
        </>
      ) : (
        <DateTime at={line.created_at} />
      ),
  },
  {
    title: 'Amount',
    kind: 'money',
    value: (line) => line.amount_micros,
    render: (line) => <Amount micros={line.amount_micros} />,
  },
  {
    title: 'Balance after',
    kind: 'money',
    value: balanceAfter,
    render: (line) => <Money micros={balanceAfter(line)} c="dimmed" />,
  },
];

function balanceAfter(line: Line): number {
  return line.kind === 'charges' ? line.balance_micros : line.available_micros;
}

function receiptColumn(receiptOf: (line: Line) => string | null): Column<Line> {
  return {
    title: 'Receipt',
    align: 'right',
    render: (line) => {
      const address = receiptOf(line);
      return address === null ? (
        '–'
      ) : (
        <Anchor href={address} download size="sm">
          PDF
        </Anchor>
      );
    },
  };
}

function Entry({ line }: { readonly line: Line }) {
  if (line.kind === 'charges') {
    return (
      <>
        <Text inherit span fw={500}>
          Charges
        </Text>{' '}
        <Text inherit span c="dimmed">
          {line.requests === 1 ? '1 request' : `${countText(line.requests)} requests`}
        </Text>
      </>
    );
  }
  return (
    <>
      <Badge color={line.kind === 'credit' ? 'green' : 'orange'} mr="xs">
        {line.kind === 'credit' ? 'Credit' : 'Debit'}
      </Badge>
      <Text inherit span style={{ overflowWrap: 'anywhere' }}>
        {capitalized(line.note ?? '')}
      </Text>
    </>
  );
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Amount({ micros }: { readonly micros: number }) {
  if (micros <= 0) return <Money micros={micros} />;
  return (
    <Text inherit span c="green" style={{ whiteSpace: 'nowrap' }}>
      +<Money micros={micros} />
    </Text>
  );
}
