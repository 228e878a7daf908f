import { Box, Group, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import type { Mode } from '../../api/account.ts';
import { useUrlState } from '../../parts/url-state.ts';
import type { Output } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Money } from '../../parts/money.tsx';
import { loadAgain } from '../../parts/load-again.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { chartColors, seriesLabel, totalMicros } from './chart-rows.ts';
import classes from './cost-panel.module.css';

const CostChart = lazy(
  loadAgain(async () => ({ default: (await import('./cost-chart.tsx')).CostChart })),
);

export function CostPanel({ mode }: { readonly mode: Mode }) {
  const [by, setState] = useUrlState(({ by: requested }) =>
    requested === 'key' ? ('key' as const) : ('model' as const),
  );
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
          aria-label="Group by"
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
            <EmptyState
              icon={IconChartBar}
              title="Nothing spent in the last 30 days"
              text="The cost of each day appears here."
            />
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

/** Legend with the total of each series. */
function Legend({ costs }: { readonly costs: Output<'GET /accounts/:account/overview/costs'> }) {
  return (
    <ul className={classes.legend} aria-label="Cost of the last 30 days">
      {costs.series.map((series, index) => (
        <li key={series.id ?? 'rest'}>
          <Group gap={8} wrap="nowrap">
            <span
              className={classes.swatch}
              style={{ background: chartColors[index % chartColors.length] }}
            />
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
