// The cost of each day as a chart, with a legend that has the total of each series.
import { Box, Group, Skeleton, Text } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import type { Output } from '../api/client.ts';
import { seriesColor, seriesLabel, totalMicros } from './chart-rows.ts';
import classes from './cost-figure.module.css';
import { EmptyState } from './empty-state.tsx';
import { loadAgain } from './load-again.ts';
import { Money } from './money.tsx';

const CostChart = lazy(
  loadAgain(async () => ({ default: (await import('./cost-chart.tsx')).CostChart })),
);

type Costs = Output<'GET /accounts/:account/analytics'>;

export function CostFigure({
  costs,
  height = 260,
  overlap = false,
}: {
  readonly costs: Costs;
  readonly height?: number;
  /** A cost is in several series, as with tags. */
  readonly overlap?: boolean;
}) {
  if (costs.series.length === 0)
    return (
      <EmptyState
        icon={IconChartBar}
        title="Nothing spent in these days"
        text="The cost of each day appears here."
      />
    );
  return (
    <>
      <Suspense fallback={<Skeleton h={height} />}>
        <Box role="figure" aria-label="Cost by day">
          <CostChart costs={costs} height={height} overlap={overlap} />
        </Box>
      </Suspense>
      <ul className={classes.legend} aria-label="Cost of the days">
        {costs.series.map((series, index) => (
          <li key={`${series.id} ${series.is_rest}`}>
            <Group gap={8} wrap="nowrap">
              <span className={classes.swatch} style={{ background: seriesColor(series, index) }} />
              <Text size="sm" truncate title={seriesLabel(series)}>
                {seriesLabel(series)}
              </Text>
              <Text size="sm" c="dimmed" component="div">
                <Money short micros={totalMicros(series)} />
              </Text>
            </Group>
          </li>
        ))}
      </ul>
    </>
  );
}
