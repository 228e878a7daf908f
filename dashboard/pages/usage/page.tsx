// Charged, failed and cached requests.
import { Button, Tabs } from '@mantine/core';
import { IconActivity, IconDownload } from '@tabler/icons-react';
import type { UsageRecord } from '../../../src/dashboard-contract/usage.ts';
import { useApiPages } from '../../api/use-api.ts';
import { apiPath, queryText } from '../../api/client.ts';
import { useAccount, useMode } from '../../api/account.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RequestDrawer } from './request-drawer.tsx';
import { columns } from './usage-columns.tsx';
import { CacheDays } from './cache-days.tsx';
import { FailedRequests } from './failed-requests.tsx';
import { FilterBar } from './filter-bar.tsx';
import { readFilters } from './usage-filters.ts';

export function Page() {
  const [tab, setView] = useUrlState(
    (search) => tabs.find(({ value }) => value === search.tab)?.value ?? 'requests',
  );
  return (
    <>
      <PageHeader title="Usage" description="Requests made with this account’s keys." />
      <Tabs
        value={tab}
        onChange={(next) => setView({ tab: next === 'requests' ? undefined : (next ?? undefined) })}
        keepMounted={false}
      >
        <Tabs.List aria-label="Request types" mb="md">
          {tabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="requests">
          <Requests />
        </Tabs.Panel>
        <Tabs.Panel value="failed">
          <FailedRequests />
        </Tabs.Panel>
        <Tabs.Panel value="cache">
          <CacheDays />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

const tabs = [
  { value: 'requests', label: 'Charged' },
  { value: 'failed', label: 'Failed' },
  { value: 'cache', label: 'Cached' },
] as const;

function Requests() {
  const mode = useMode();
  const { id: account } = useAccount();
  const [{ filters, open }, setView] = useUrlState((search) => ({
    filters: readFilters(search),
    open: search.request ?? null,
  }));
  const query = { mode, ...filters };
  const pages = useApiPages('GET /accounts/:account/usage', { query });
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <>
      <FilterBar filters={filters} setFilters={setView} />
      <Panel
        flush
        title="Requests"
        actions={
          <Button
            component="a"
            href={`${apiPath}/accounts/${encodeURIComponent(account)}/usage.csv${queryText(query)}`}
            download
            size="xs"
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            Export CSV
          </Button>
        }
      >
        <DataTable<UsageRecord>
          label="Requests"
          pages={pages}
          columns={columns}
          rowKey={({ request_id: id }) => id}
          onOpen={({ request_id: request }) => setView({ request }, { push: true })}
          empty={isFiltered ? <NoMatches /> : <NoRequestsYet mode={mode} />}
        />
      </Panel>
      <RequestDrawer requestId={open} onClose={() => setView({ request: undefined })} />
    </>
  );
}

function NoMatches() {
  return (
    <EmptyState
      icon={IconActivity}
      title="No matching requests"
      text="Remove a filter or choose more days."
    />
  );
}

function NoRequestsYet({ mode }: { readonly mode: 'live' | 'test' }) {
  return (
    <EmptyState
      icon={IconActivity}
      title={`No ${mode} requests yet`}
      text="Requests appear here once they are answered and charged."
      action={
        <ButtonLink to="/playground" variant="default">
          Try a model
        </ButtonLink>
      }
    />
  );
}
