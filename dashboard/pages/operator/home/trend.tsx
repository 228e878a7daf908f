// How the service does: its days as a chart, who changed most, who is new, and what is prepaid.
import { Group, SimpleGrid, Skeleton, Text } from '@mantine/core';
import type { Mode } from '../../../api/account.ts';
import type { Output } from '../../../api/client.ts';
import { useApi } from '../../../api/use-api.ts';
import { Chart } from '../../../parts/charts/chart.tsx';
import { beforeSeries, colors, dayPoints } from '../../../parts/charts/series.ts';
import { Trend } from '../../../parts/charts/trend.tsx';
import { AppLink } from '../../../parts/link.tsx';
import { Money } from '../../../parts/money.tsx';
import { usdText } from '../../../parts/money-text.ts';
import { Panel } from '../../../parts/panel.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { Stat } from '../../../parts/stat.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import { daysBefore, daysIn, type DayRange } from '../../../parts/utc-days.ts';
import { Lines } from './attention.tsx';

type Report = Output<'GET /operator/report'>;

type DaysProps = {
  readonly range: DayRange;
  readonly now: Report | undefined;
  readonly before: Report | undefined;
  /** The days before are whole. */
  readonly compares: boolean;
};

const title = 'Revenue, cost and margin by day';
const total = (micros: number) => <Money short micros={micros} />;

export function Days({ range, now, before, compares }: DaysProps) {
  const days = daysIn(range);
  // Reports leave out days without charges.
  const values = (
    name: 'revenue_micros' | 'cost_micros' | 'margin_micros',
    of = now,
    at = days,
  ) => {
    const rows = new Map(of?.rows.map((row) => [row.id, row[name]]));
    return at.map((day) => rows.get(day) ?? 0);
  };
  const earlier = () => values('revenue_micros', before, daysIn(daysBefore(range)));
  return (
    <Panel title={title}>
      {now?.rows.length === 0 && before?.rows.length === 0 ? (
        <Text c="dimmed">Nothing was charged in these days, nor before.</Text>
      ) : now && before ? (
        <Chart
          label={title}
          shape="lines"
          points={dayPoints(days)}
          series={[
            { label: 'Revenue', color: colors[0], values: values('revenue_micros') },
            { label: 'Cost', color: colors[2], values: values('cost_micros') },
            { label: 'Margin', color: colors[1], values: values('margin_micros') },
          ]}
          before={compares ? beforeSeries('Revenue before', earlier()) : null}
          format={usdText}
          total={total}
          days={days}
        />
      ) : (
        <Skeleton h={260} />
      )}
    </Panel>
  );
}

/** Live balances and what came in during these days. */
export function Cash({ range }: { readonly range: DayRange }) {
  const money = useApi('GET /operator/money', { query: range }, { keepPrevious: true }).data;
  const card = money && money.paid_micros - money.returned_micros;
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <Stat
        label="Prepaid balances"
        value={money && <Money short micros={money.prepaid_micros} />}
        hint={
          money && (
            <>
              What you owe accounts now
              {money.owed_micros > 0 && (
                <>
                  ; they owe you <Money short micros={money.owed_micros} />
                </>
              )}
            </>
          )
        }
      />
      <Stat
        label="Cash in by card"
        value={card !== undefined && <Money short micros={card} />}
        hint={
          money && (
            <>
              <Money short micros={money.returned_micros} /> returned.{' '}
              <AppLink to="/operator/payments" search={{ tab: 'all' }}>
                All payments
              </AppLink>
            </>
          )
        }
      />
      <Stat
        label="Credited by hand"
        value={money && <Money short micros={money.credited_micros} />}
        hint={
          money && (
            <>
              By operators and at sign-up; <Money short micros={money.debited_micros} /> debited
            </>
          )
        }
      />
    </SimpleGrid>
  );
}

export function Movers({ mode, range }: { readonly mode: Mode; readonly range: DayRange }) {
  const movers = useApi(
    'GET /operator/movers',
    { query: { mode, ...range } },
    { keepPrevious: true },
  );
  return (
    <Panel title="Biggest movers" description="Revenue against as many days before.">
      <QueryView query={movers}>
        {({ data }) => (
          <Lines
            rows={data}
            none="No account’s revenue has changed."
            keyOf={({ account }) => account.id}
            render={({ account, revenue_micros: now, before_micros: before }) => (
              <Group justify="space-between" gap="xs">
                <AccountName {...account} />
                <Text size="sm" component="div">
                  <Money short micros={now} />{' '}
                  {before > 0 ? <Trend now={now} before={before} good="higher" /> : 'new'}
                </Text>
              </Group>
            )}
          />
        )}
      </QueryView>
    </Panel>
  );
}

const newestShown = 5;

export function Newest() {
  const newest = useApi('GET /operator/accounts', { query: { limit: newestShown } });
  return (
    <Panel
      title="Newest accounts"
      description={<AppLink to="/operator/accounts">All accounts</AppLink>}
    >
      <QueryView query={newest}>
        {({ data }) => (
          <Lines
            rows={data}
            none="No accounts yet."
            keyOf={({ id }) => id}
            render={({ id, name, owner, created_at: at }) => (
              <Group justify="space-between" gap="xs">
                <AccountName id={id} name={name} />
                <Text size="sm" c="dimmed" component="div">
                  {owner ? `${owner.email}, ` : ''}
                  <TimeAgo at={at} />
                </Text>
              </Group>
            )}
          />
        )}
      </QueryView>
    </Panel>
  );
}

function AccountName({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <AppLink to="/operator/accounts/$accountId" params={{ accountId: id }}>
      {name || id}
    </AppLink>
  );
}
