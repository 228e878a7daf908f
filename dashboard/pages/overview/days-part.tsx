// The chosen days: one chart beside the models and keys that cost most, and errors by code.
import { Grid, Group, Stack, Text } from '@mantine/core';
import type { Mode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { CostChart } from '../../parts/charts/cost-chart.tsx';
import { Sparkline } from '../../parts/charts/sparkline.tsx';
import { Trend } from '../../parts/charts/trend.tsx';
import { ErrorCounts } from '../../parts/error-counts.tsx';
import { AppLink } from '../../parts/link.tsx';
import { Money } from '../../parts/money.tsx';
import { shortUsdText, usdText } from '../../parts/money-text.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { RequestsLink } from '../../parts/requests-link.tsx';
import { isComparable, type DayRange } from '../../parts/utc-days.ts';

type Analytics = Output<'GET /accounts/:account/analytics'>;
type Props = { readonly mode: Mode; readonly range: DayRange };

const shown = 5;

export function DaysPart({ mode, range }: Props) {
  const options = { keepPrevious: true, refetchMs: 60_000 };
  const query = { mode, ...range };
  const models = useApi(
    'GET /accounts/:account/analytics',
    { query: { ...query, by: 'model' } },
    options,
  );
  const keys = useApi(
    'GET /accounts/:account/analytics',
    { query: { ...query, by: 'key' } },
    options,
  );
  return (
    <>
      <Grid gap="md" align="stretch">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Panel
            h="100%"
            title={range.from === range.to ? 'Cost by hour' : 'Cost by day'}
            description={models.data && <Total analytics={models.data} range={range} />}
            actions={<MoreLink range={range} />}
          >
            <CostChart query={models} range={range} height={300} />
          </Panel>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack gap="md" h="100%">
            <Panel title="Top keys">
              <QueryView query={keys}>
                {({ rows }) => <TopList name="key" rows={rows} range={range} />}
              </QueryView>
            </Panel>
            <Panel title="Top models" flex={1}>
              <QueryView query={models}>
                {({ rows }) => <TopList name="model" rows={rows} range={range} />}
              </QueryView>
            </Panel>
          </Stack>
        </Grid.Col>
      </Grid>
      <Panel title="Errors" description="Refused and failed requests. None was charged.">
        <QueryView query={models}>
          {({ errors }) => <ErrorCounts errors={errors} range={range} />}
        </QueryView>
      </Panel>
    </>
  );
}

type TotalProps = { readonly analytics: Analytics; readonly range: DayRange };

function Total({ analytics: { now, before, began_on: beganOn }, range }: TotalProps) {
  return (
    <>
      <Money short micros={now.cost_micros} fw={600} />
      {before.cost_micros > 0 && isComparable(range, beganOn) && (
        <>
          , <Trend now={now.cost_micros} before={before.cost_micros} /> from{' '}
          {shortUsdText(before.cost_micros)} before
        </>
      )}
    </>
  );
}

function MoreLink({ range }: { readonly range: DayRange }) {
  return (
    <AppLink
      to="/analytics"
      search={(before) => ({ account: before.account, mode: before.mode, ...range })}
      size="sm"
    >
      Analytics
    </AppLink>
  );
}

type ListProps = {
  readonly name: 'key' | 'model';
  readonly rows: Analytics['rows'];
  readonly range: DayRange;
};

function TopList({ name, rows, range }: ListProps) {
  const top = rows.filter(({ id, cost_micros: cost }) => id !== null && cost > 0).slice(0, shown);
  if (top.length === 0) return <Text c="dimmed">Nothing spent in these days.</Text>;
  return (
    <Stack
      component="ol"
      gap={8}
      m={0}
      p={0}
      style={{ listStyle: 'none' }}
      aria-label={`Top ${name}s`}
    >
      {top.map((row) => (
        <Group key={row.id} component="li" justify="space-between" gap="sm" wrap="nowrap">
          <Text truncate dir="auto" ta="left" title={row.name ?? undefined}>
            <RequestsLink filters={{ ...range, [name]: row.id! }}>
              {row.name ?? (name === 'key' ? 'Unnamed' : row.id)}
            </RequestsLink>
          </Text>
          <Group gap="sm" wrap="nowrap" c="dimmed">
            <Sparkline label="Cost by day" values={row.day_costs_micros} format={usdText} />
            <Money short micros={row.cost_micros} />
          </Group>
        </Group>
      ))}
    </Stack>
  );
}
