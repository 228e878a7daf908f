import { Box, Group, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { chartColors } from '../../app/theme.ts';
import type { Mode } from '../../app/account.ts';
import { useUrlState } from '../../app/url-state.ts';
import type { Output } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Money } from '../../parts/money.tsx';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { seriesLabel, totalMicros } from './chart-rows.ts';
import classes from './cost-panel.module.css';

const CostChart = lazy(async () => ({ default: (await import('./cost-chart.tsx')).CostChart }));

export function CostPanel({ mode }: { readonly mode: Mode }) {
  const [by, setState] = useUrlState(({ by: asked }) => (asked === 'key' ? ('key' as const) : ('model' as const)));
  const query = useApi(
    'GET /accounts/:account/overview/costs',
    { query: { mode, by } },
    { keepPrevious: true, refetchMs: 60_000 },
  );
  return (
    <Panel
      title="Cost by day"
      description="The last 30 days, UTC"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Stacked by"
          value={by}
          onChange={(value) => setState({ by: value === 'key' ? value : undefined })}
          data={[
            { value: 'model', label: 'By model' },
            { value: 'key', label: 'By key' },
          ]}
        />
      }
    >
      <QueryView query={query} skeleton={<Skeleton h={260} />}>
        {(costs) =>
          costs.series.length === 0 ? (
            <EmptyState icon={IconChartBar} title="Nothing was spent" text="What requests cost shows here, day by day." />
          ) : (
            <>
              <Suspense fallback={<Skeleton h={260} />}>
                <Box role="figure" aria-label="Cost by day">
                  <CostChart costs={costs} />
                </Box>
              </Suspense>
              <Legend costs={costs} />
            </>
          )
        }
      </QueryView>
    </Panel>
  );
}

/** With sums: the chart in figures. */
function Legend({ costs }: { readonly costs: Output<'GET /accounts/:account/overview/costs'> }) {
  return (
    <ul className={classes.legend} aria-label="Cost of the last 30 days">
      {costs.series.map((series, place) => (
        <li key={series.id ?? 'rest'}>
          <Group gap={8} wrap="nowrap">
            <span className={classes.swatch} style={{ background: chartColors[place % chartColors.length] }} />
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
  );
}
