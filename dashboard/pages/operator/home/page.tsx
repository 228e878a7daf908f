// The operator's home: what the service earned, and what needs attention.
import { SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import type { Output } from '../../../api/client.ts';
import { useApi } from '../../../api/use-api.ts';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import classes from '../../../parts/figure-link.module.css';
import { AppLink } from '../../../parts/link.tsx';
import { Money } from '../../../parts/money.tsx';
import { Trend } from '../../../parts/charts/trend.tsx';
import { shortUsdText } from '../../../parts/money-text.ts';
import { countedText, shareText } from '../../../parts/number-text.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { useRange } from '../../../parts/range-picker.tsx';
import { Stat } from '../../../parts/stat.tsx';
import { dayText } from '../../../parts/time-text.ts';
import { useUrlState, type Search } from '../../../parts/url-state.ts';
import { daysBefore, isComparable } from '../../../parts/utc-days.ts';
import { LowBalances, NextSteps, TroubledRoutes } from './attention.tsx';
import { Breakdown, isGroup } from './breakdown.tsx';
import { FirstHour, firstHourAreas, useFirstHour } from './first-hour.tsx';
import { Cash, Days, Movers, Newest } from './trend.tsx';

const keeping = { keepPrevious: true };

type Report = Output<'GET /operator/report'>;

export function Page() {
  const { range: days, picker } = useRange(['1', '7', '30', 'month']);
  const [{ by, mode }, setState] = useUrlState((search) => ({
    by: isGroup(search.by) ? search.by : ('account' as const),
    mode: search.ledger === 'test' ? ('test' as const) : ('live' as const),
  }));
  const report = useApi('GET /operator/report', { query: { mode, by, ...days } }, keeping);
  const earlier = daysBefore(days);
  const byDay = useApi('GET /operator/report', { query: { mode, by: 'day', ...days } }, keeping);
  const before = useApi(
    'GET /operator/report',
    { query: { mode, by: 'day', ...earlier } },
    keeping,
  );
  const compares = isComparable(days, byDay.data?.began_on);
  const attention = useApi('GET /operator/attention', {});
  const showsFirstHour = useFirstHour(attention.data?.set_up).isShown;
  return (
    <>
      <PageHeader
        title="Home"
        description={
          <>
            {dayText(days.from)}
            {days.from !== days.to && ` – ${dayText(days.to)}`} UTC
            {mode === 'test' && ', play money of test mode'}
          </>
        }
        actions={
          <>
            {picker}
            <SegmentedControl
              size="xs"
              aria-label="Ledger"
              value={mode}
              onChange={(value) => setState({ ledger: value === 'test' ? value : undefined })}
              data={[
                { value: 'live', label: 'Live' },
                { value: 'test', label: 'Test' },
              ]}
            />
          </>
        }
      />
      <Stack>
        {report.error && <ErrorNotice error={report.error} onRetry={() => void report.refetch()} />}
        {attention.data && <FirstHour setUp={attention.data.set_up} />}
        <Totals totals={report.data?.totals} before={compares ? before.data?.totals : undefined} />
        <Days range={days} now={byDay.data} before={before.data} compares={compares} />
        {mode === 'live' && <Cash range={days} />}
        {attention.error && (
          <ErrorNotice error={attention.error} onRetry={() => void attention.refetch()} />
        )}
        <NextSteps attention={attention.data} hides={showsFirstHour ? firstHourAreas : []} />
        <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
          <Movers mode={mode} range={days} />
          <Newest />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
          <LowBalances attention={attention.data} />
          <TroubledRoutes attention={attention.data} />
        </SimpleGrid>
        <Breakdown
          by={by}
          rows={report.data?.rows}
          error={report.error}
          onGroup={(group) => setState({ by: group === 'account' ? undefined : group })}
        />
      </Stack>
    </>
  );
}

const lossesOf = (totals: Report['totals']) => totals.failed_micros + totals.uncollected_micros;

type TotalsProps = Readonly<Record<'totals' | 'before', Report['totals'] | undefined>>;

/** `↗ +12% from $3.40 before`; null: there is nothing to compare with. */
function since(now: number, before: number | undefined, good?: 'higher' | 'lower') {
  if (before === undefined || before <= 0) return null;
  return (
    <>
      <Trend now={now} before={before} good={good} /> from {shortUsdText(before)} before
    </>
  );
}

/** Each figure links to its parts in the table below. */
function Totals({ totals, before }: TotalsProps) {
  const losses = totals && lossesOf(totals);
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }}>
      <Stat
        label="Revenue"
        value={totals && <Figure by="account" micros={totals.revenue_micros} />}
        hint={
          totals &&
          (since(totals.revenue_micros, before?.revenue_micros, 'higher') ??
            countedText(totals.requests, 'charged request'))
        }
      />
      <Stat
        label="Cost"
        value={totals && <Figure by="model" micros={totals.cost_micros} />}
        hint={
          (totals && since(totals.cost_micros, before?.cost_micros)) ??
          'What providers charge for these requests'
        }
      />
      <Stat
        label="Margin"
        value={totals && <Figure by="day" micros={totals.margin_micros} />}
        hint={
          totals && (
            <>
              {totals.revenue_micros > 0
                ? `${shareText(totals.margin_micros / totals.revenue_micros)} of the revenue`
                : 'Revenue minus cost and failed requests'}
              {before && <div>{since(totals.margin_micros, before.margin_micros, 'higher')}</div>}
            </>
          )
        }
      />
      <Stat
        label="Losses"
        value={losses !== undefined && <Figure by="key" micros={losses} />}
        hint={
          totals && (
            <>
              <Money short micros={totals.failed_micros} /> failed requests,{' '}
              <Money short micros={totals.uncollected_micros} /> above balances
              {before && <div>{since(losses!, lossesOf(before), 'lower')}</div>}
            </>
          )
        }
      />
    </SimpleGrid>
  );
}

function Figure({ by, micros }: { readonly by: string; readonly micros: number }) {
  return (
    <AppLink
      to="/operator"
      search={(before: Search) => ({ ...before, by: by === 'account' ? undefined : by })}
      hash="breakdown"
      inherit
      c="inherit"
      className={classes.figure}
    >
      <Text span inherit>
        <Money short micros={micros} />
      </Text>
    </AppLink>
  );
}
