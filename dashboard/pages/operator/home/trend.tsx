// How the service does: its days as a chart, who changed most, who is new, and what is prepaid.
import { Box, Group, SimpleGrid, Skeleton, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { Mode } from '../../../api/account.ts';
import type { Output } from '../../../api/client.ts';
import { useApi } from '../../../api/use-api.ts';
import { changeText } from '../../../parts/change-text.ts';
import { AppLink } from '../../../parts/link.tsx';
import { loadAgain } from '../../../parts/load-again.ts';
import { Money } from '../../../parts/money.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { Stat } from '../../../parts/stat.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import type { DayRange } from '../../../parts/utc-days.ts';
import { Lines } from './attention.tsx';
import { dayRows } from './day-rows.ts';

const MarginChart = lazy(
  loadAgain(async () => ({ default: (await import('./margin-chart.tsx')).MarginChart })),
);

type Report = Output<'GET /operator/report'>;

type DaysProps = {
  readonly range: DayRange;
  readonly now: Report | undefined;
  readonly before: Report | undefined;
};

export function Days({ range, now, before }: DaysProps) {
  return (
    <Panel title="Revenue, cost and margin by day" description="Against as many days before.">
      {now?.rows.length === 0 && before?.rows.length === 0 ? (
        <Text c="dimmed">Nothing was charged in these days, nor before.</Text>
      ) : now && before ? (
        <Suspense fallback={<Skeleton h={260} />}>
          <Box role="figure" aria-label="Revenue, cost and margin by day">
            <MarginChart rows={dayRows(range, now.rows, before.rows)} />
          </Box>
        </Suspense>
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
                  <Text span inherit c={now < before ? 'red' : 'green'}>
                    {changeText(now, before) || 'new'}
                  </Text>
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
