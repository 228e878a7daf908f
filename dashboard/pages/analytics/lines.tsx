// The error rate and the latencies of each day, or of each hour.
import { SimpleGrid, Skeleton } from '@mantine/core';
import type { Mode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { Chart } from '../../parts/charts/chart.tsx';
import { colors, dayPoints, hourPoints, type Series } from '../../parts/charts/series.ts';
import { durationText, shareText } from '../../parts/number-text.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { daysIn, type DayRange } from '../../parts/utc-days.ts';

/** Figures of a day or an hour. */
type Sums = Pick<
  Output<'GET /accounts/:account/analytics/days'>['now'][number],
  'errors' | 'requests' | 'first_token' | 'duration'
>;

type Chosen = {
  readonly title: string;
  readonly format: (value: number) => string;
  readonly series: (sums: readonly Sums[]) => readonly Series[];
};

/** Shares are in hundredths of a percent, as charts show whole numbers. */
const shareUnit = 10_000;

const charts: readonly Chosen[] = [
  {
    title: 'Error rate',
    format: (value) => shareText(value / shareUnit),
    series: (sums) => [
      {
        label: 'Error rate',
        color: colors[3],
        values: sums.map(({ errors, requests }) =>
          requests === 0 ? null : Math.round((shareUnit * errors) / requests),
        ),
      },
    ],
  },
  latency('First token', 'first_token'),
  latency('Duration', 'duration'),
];

function latency(title: string, name: 'first_token' | 'duration'): Chosen {
  return {
    title,
    format: durationText,
    series: (sums) => [
      { label: 'p50', color: colors[0], values: sums.map((sum) => sum[name]?.p50_ms ?? null) },
      { label: 'p95', color: colors[2], values: sums.map((sum) => sum[name]?.p95_ms ?? null) },
    ],
  };
}

/** Hours are shown of at most two days. */
const hourlyDaysMax = 2;

export function Lines({ mode, range }: { readonly mode: Mode; readonly range: DayRange }) {
  const days = daysIn(range);
  const isShort = days.length <= hourlyDaysMax;
  const query = { mode, ...range };
  const byDay = useApi(
    'GET /accounts/:account/analytics/days',
    { query },
    { keepPrevious: true, enabled: !isShort },
  );
  const byHour = useApi('GET /accounts/:account/analytics/hours', { query }, { enabled: isShort });
  return (
    <SimpleGrid cols={{ base: 1, lg: 3 }} spacing="md">
      {charts.map(({ title, format, series }) => {
        const label = `${title} by ${isShort ? 'hour' : 'day'}`;
        const chart = { label, shape: 'lines', height: 200, format } as const;
        return (
          <Panel key={title} title={label}>
            {isShort ? (
              <QueryView query={byHour} skeleton={<Skeleton h={200} />}>
                {({ hours }) => (
                  <Chart
                    {...chart}
                    points={days.flatMap(hourPoints)}
                    series={series(hours ?? [])}
                    days={
                      days.length === 1 ? days : days.flatMap((day) => Array<string>(24).fill(day))
                    }
                  />
                )}
              </QueryView>
            ) : (
              <QueryView query={byDay} skeleton={<Skeleton h={200} />}>
                {({ days: shown, now }) => (
                  <Chart {...chart} points={dayPoints(shown)} series={series(now)} days={shown} />
                )}
              </QueryView>
            )}
          </Panel>
        );
      })}
    </SimpleGrid>
  );
}
