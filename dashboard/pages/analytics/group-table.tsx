import { Text } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Output } from '../../api/client.ts';
import { Sparkline } from '../../parts/charts/sparkline.tsx';
import { Trend } from '../../parts/charts/trend.tsx';
import { CutText } from '../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Money } from '../../parts/money.tsx';
import { usdText } from '../../parts/money-text.ts';
import { countText, durationText, shortCountText } from '../../parts/number-text.ts';
import { RequestsLink } from '../../parts/requests-link.tsx';
import type { Search } from '../../parts/url-state.ts';
import { isComparable, type DayRange } from '../../parts/utc-days.ts';
import { groupNames, type GroupName, type Row, rowFilter, rowName, sortWithin } from './groups.ts';

type Props = {
  readonly by: GroupName;
  /** Undefined while loading. */
  readonly analytics: Output<'GET /accounts/:account/analytics'> | undefined;
  readonly range: DayRange;
};

export function GroupTable({ by, analytics, range }: Props) {
  return (
    <DataTable<Row>
      label={`By ${groupNames[by].label.toLowerCase()}`}
      rows={analytics?.rows}
      columns={columnsOf(by, range, isComparable(range, analytics?.began_on))}
      rowKey={({ id, is_rest: isRest }) => (isRest ? ' rest' : (id ?? ''))}
      dense
      empty={
        <EmptyState
          icon={IconChartBar}
          title="No requests in these days"
          text="Choose more days."
        />
      }
    />
  );
}

function columnsOf(by: GroupName, range: DayRange, compares: boolean): readonly Column<Row>[] {
  const linked = (row: Row, more: Search, children: ReactNode) => {
    const filter = rowFilter(by, row);
    return filter ? (
      <RequestsLink filters={{ ...range, ...filter, ...more }}>{children}</RequestsLink>
    ) : (
      children
    );
  };
  const number = (title: string, render: (row: Row) => ReactNode): Column<Row> => ({
    title,
    align: 'right',
    phone: 'hidden',
    render,
  });
  const latency = (title: string, name: 'first_token' | 'duration', sort: string) =>
    number(title, (row) => {
      const measured = row[name];
      if (!measured) return '–';
      const text = `${durationText(measured.p50_ms)} / ${durationText(measured.p95_ms)}`;
      return linked(row, sortWithin(range, sort), text);
    });
  return [
    {
      title: groupNames[by].label,
      phone: 'title',
      render: (row) => (
        <CutText text={rowName(by, row)}>{linked(row, {}, rowName(by, row))}</CutText>
      ),
    },
    {
      title: 'Cost',
      align: 'right',
      render: (row) =>
        linked(row, sortWithin(range, 'cost'), <Money short micros={row.cost_micros} />),
    },
    {
      title: 'By day',
      align: 'right',
      tablet: 'hidden',
      render: ({ day_costs_micros: costs }) => (
        <Sparkline label="Cost by day" values={costs} format={usdText} />
      ),
    },
    {
      title: 'Change',
      align: 'right',
      render: ({ cost_micros: cost, before }) => (
        <Text span inherit c="dimmed">
          {!compares || (cost === 0 && before.cost_micros === 0) ? (
            '–'
          ) : before.cost_micros === 0 ? (
            'new'
          ) : (
            <Trend now={cost} before={before.cost_micros} />
          )}
        </Text>
      ),
    },
    {
      title: 'Requests',
      align: 'right',
      render: (row) => linked(row, {}, countText(row.requests)),
    },
    number('Tokens', (row) => shortCountText(row.input_tokens + row.output_tokens)),
    {
      title: 'Errors',
      align: 'right',
      render: (row) =>
        // The history does not have the provider of a failed request.
        by === 'provider' || row.errors === 0
          ? countText(row.errors)
          : linked(row, { outcome: 'failed' }, countText(row.errors)),
    },
    ...(by === 'provider'
      ? []
      : [
          number('Saved', (row) =>
            row.saved_micros === 0
              ? '–'
              : linked(row, { outcome: 'cached' }, <Money short micros={row.saved_micros} />),
          ),
        ]),
    latency('First token p50 / p95', 'first_token', 'first-token'),
    latency('Duration p50 / p95', 'duration', 'duration'),
  ];
}
