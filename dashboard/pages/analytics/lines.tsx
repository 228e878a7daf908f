// The error rate and the latencies of each day.
import { SimpleGrid, Skeleton } from '@mantine/core';
import type { Mode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { Chart } from '../../parts/charts/chart.tsx';
import { colors, dayPoints, type Series } from '../../parts/charts/series.ts';
import { durationText, shareText } from '../../parts/number-text.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import type { DayRange } from '../../parts/utc-days.ts';

type Day = Output<'GET /accounts/:account/analytics/days'>['now'][number];

type Chosen = {
  readonly title: string;
  readonly format: (value: number) => string;
  readonly series: (days: readonly Day[]) => readonly Series[];
};

/** Shares are in hundredths of a percent, as charts show whole numbers. */
const shareUnit = 10_000;

const charts: readonly Chosen[] = [
  {
    title: 'Error rate by day',
    format: (value) => shareText(value / shareUnit),
    series: (days) => [
      {
        label: 'Error rate',
        color: colors[3],
        values: days.map(({ errors, requests }) =>
          requests === 0 ? null : Math.round((shareUnit * errors) / requests),
        ),
      },
    ],
  },
  latency('First token by day', 'first_token'),
  latency('Duration by day', 'duration'),
];

function latency(title: string, name: 'first_token' | 'duration'): Chosen {
  return {
    title,
    format: durationText,
    series: (days) => [
      { label: 'p50', color: colors[0], values: days.map((day) => day[name]?.p50_ms ?? null) },
      { label: 'p95', color: colors[2], values: days.map((day) => day[name]?.p95_ms ?? null) },
    ],
  };
}

export function Lines({ mode, range }: { readonly mode: Mode; readonly range: DayRange }) {
  const query = useApi(
    'GET /accounts/:account/analytics/days',
    { query: { mode, ...range } },
    { keepPrevious: true },
  );
  return (
    <SimpleGrid cols={{ base: 1, lg: 3 }} spacing="md">
      {charts.map(({ title, format, series }) => (
        <Panel key={title} title={title}>
          <QueryView query={query} skeleton={<Skeleton h={200} />}>
            {({ days, now }) => (
              <Chart
                label={title}
                shape="lines"
                height={200}
                points={dayPoints(days)}
                series={series(now)}
                format={format}
                days={days}
              />
            )}
          </QueryView>
        </Panel>
      ))}
    </SimpleGrid>
  );
}
