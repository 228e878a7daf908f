// Providers and routes, with their health.
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconPlugConnected, IconPlus } from '@tabler/icons-react';
import type { Output } from '../../../api/client.ts';
import { useApi } from '../../../api/use-api.ts';
import { CutText } from '../../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { countText, durationText, shareText } from '../../../parts/number-text.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { DateTime } from '../../../parts/time-ago.tsx';
import { useUrlState } from '../../../parts/url-state.ts';
import { useSaved } from '../saved/use-saved.ts';
import { WithParts } from '../saved/with-parts.tsx';
import { AddProvider } from './add-provider.tsx';
import { ProviderDrawer } from './provider-drawer.tsx';

type Provider = Output<'GET /operator/providers'>['data'][number];
type Route = Provider['routes'][number] & { readonly provider: string };

const refetchMs = 10_000;

export function Page() {
  const [{ adding, open }, setState] = useUrlState(({ add, provider = null }) => ({
    adding: add !== undefined,
    open: provider,
  }));
  const providers = useApi('GET /operator/providers', {}, { refetchMs });
  const saved = useSaved();
  const rows = providers.data?.data;
  const routes = rows?.flatMap(({ name, routes: used }) =>
    used.map((route) => ({ ...route, provider: name })),
  );
  const add = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => setState({ add: '1' }, { push: true })}
    >
      Add provider
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Providers"
        description="Figures cover the last 24 hours. Health is what the gateway that serves this page has seen."
        actions={add}
      />
      <Stack>
        <Panel flush>
          <DataTable
            label="Providers"
            search="Search providers"
            dense
            rows={rows}
            error={providers.error}
            onRetry={() => void providers.refetch()}
            columns={providerColumns}
            rowKey={(provider) => provider.name}
            onOpen={({ name }) => setState({ provider: name })}
            empty={
              <EmptyState
                icon={IconPlugConnected}
                title="No provider yet"
                text="Add one with its key. A variable such as OPENAI_API_KEY, or the configuration file, adds one too."
                action={add}
              />
            }
          />
        </Panel>
        {routes && routes.length > 0 && (
          <Panel
            title="Routes"
            description="Models at each provider, counted since this gateway started. A failing route is skipped for a while if another one can serve the model."
            flush
          >
            <DataTable
              label="Routes"
              search="Search routes"
              rows={routes}
              columns={routeColumns}
              rowKey={(route) => `${route.provider} ${route.model}`}
              empty={null}
            />
          </Panel>
        )}
      </Stack>
      {rows && saved.data && (
        <>
          <AddProvider
            opened={adding}
            known={saved.data.known_providers}
            taken={rows.map(({ name }) => name)}
            onClose={() => setState({ add: undefined })}
            onChoose={(name) => setState({ add: undefined, provider: name })}
          />
          {open !== null && (
            <WithParts>
              {(parts) => (
                <ProviderDrawer
                  {...parts}
                  name={open}
                  providers={rows}
                  onClose={() => setState({ provider: undefined })}
                />
              )}
            </WithParts>
          )}
        </>
      )}
    </>
  );
}

const providerColumns: readonly Column<Provider>[] = [
  {
    title: 'Provider',
    value: ({ name }) => name,
    phone: 'title',
    render: (provider) => (
      <>
        <Group gap="xs">
          <Text fw={500}>{provider.name}</Text>
          {provider.is_on ? <Badge color="green">On</Badge> : <Badge color="gray">Off</Badge>}
        </Group>
        <CutText block size="xs" c="dimmed" text={provider.base_url} />
      </>
    ),
  },
  { title: 'Kind', value: ({ kind }) => kind },
  { title: 'Models', value: ({ models }) => models, align: 'right' },
  {
    title: 'Calls',
    value: ({ last_day: day }) => day?.calls,
    align: 'right',
    render: ({ last_day: day }) => countText(day?.calls ?? 0),
  },
  {
    title: 'Failed',
    value: ({ last_day: day }) => day && (day.failures + day.refusals) / day.calls,
    align: 'right',
    render: ({ last_day: day }) => (
      <Share part={(day?.failures ?? 0) + (day?.refusals ?? 0)} of={day?.calls ?? 0} />
    ),
  },
  {
    title: 'First token',
    value: ({ last_day: day }) => day?.stream?.p50_ms,
    align: 'right',
    render: ({ last_day: day }) => <Latency latency={day?.stream ?? null} />,
  },
  {
    title: 'Full answer',
    value: ({ last_day: day }) => day?.whole?.p50_ms,
    align: 'right',
    render: ({ last_day: day }) => <Latency latency={day?.whole ?? null} />,
  },
  {
    title: 'Health',
    value: ({ routes }) => routes.filter(({ state }) => state !== 'in-use').length,
    render: (provider) => <Health provider={provider} />,
  },
];

const routeColumns: readonly Column<Route>[] = [
  {
    title: 'Route',
    value: ({ model }) => model,
    phone: 'title',
    render: (route) => (
      <>
        <CutText block fw={500} text={route.model} />
        <Text size="xs" c="dimmed">
          {route.provider}
        </Text>
      </>
    ),
  },
  { title: 'State', value: ({ state }) => state, render: (route) => <RouteState route={route} /> },
  { title: 'Calls', value: ({ calls }) => calls, align: 'right' },
  {
    title: 'Failed',
    value: ({ failures, calls }) => failures / calls,
    align: 'right',
    render: (route) => <Share part={route.failures} of={route.calls} />,
  },
  { title: 'Credential refused', value: ({ refusals }) => refusals, align: 'right' },
];

/** The median latency and the 95th percentile. */
function Latency({ latency }: { readonly latency: NonNullable<Provider['last_day']>['stream'] }) {
  if (!latency) {
    return (
      <Text span inherit c="dimmed">
        –
      </Text>
    );
  }
  return (
    <Text span inherit style={{ whiteSpace: 'nowrap' }}>
      {durationText(latency.p50_ms)}{' '}
      <Text span inherit c="dimmed">
        p95 {durationText(latency.p95_ms)}
      </Text>
    </Text>
  );
}

function Share({ part, of }: { readonly part: number; readonly of: number }) {
  if (of === 0) {
    return (
      <Text span inherit c="dimmed">
        –
      </Text>
    );
  }
  return (
    <Text span inherit style={{ whiteSpace: 'nowrap' }}>
      {countText(part)}{' '}
      <Text span inherit c="dimmed">
        ({shareText(part / of)})
      </Text>
    </Text>
  );
}

function Health({ provider }: { readonly provider: Provider }) {
  if (!provider.is_on)
    return <Text c="dimmed">{provider.has_key ? 'Switched off' : 'No key'}</Text>;
  if (provider.routes.length === 0) return <Text c="dimmed">Not used yet</Text>;
  const unhealthy = provider.routes.filter(({ state }) => state !== 'in-use');
  if (unhealthy.length === 0)
    return isFailing(provider) ? (
      <Badge color="orange">Errors</Badge>
    ) : (
      <Badge color="green">Healthy</Badge>
    );
  return (
    <Badge color="red">
      {unhealthy.length === 1 ? '1 route down' : `${unhealthy.length} routes down`}
    </Badge>
  );
}

const failingShare = 0.1;

function isFailing({ last_day: day }: Provider): boolean {
  return day !== null && day.failures + day.refusals >= day.calls * failingShare;
}

function RouteState({ route }: { readonly route: Route }) {
  if (route.state === 'in-use') return <Badge color="green">In use</Badge>;
  return (
    <>
      <Badge color={route.state === 'ejected' ? 'red' : 'orange'}>
        {route.state === 'ejected' ? 'Skipped' : 'Being retried'}
      </Badge>
      <Text component="div" size="xs" c="dimmed">
        {route.reason === 'refused' ? 'credential refused' : 'repeated failures'}
        {route.state === 'ejected' && (
          <>
            , until <DateTime at={route.ejected_until} zoned />
          </>
        )}
      </Text>
    </>
  );
}
