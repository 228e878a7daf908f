// Every request that was charged for, and what it cost.
import { Button } from '@mantine/core';
import { IconActivity, IconDownload } from '@tabler/icons-react';
import type { UsageRecord } from '../../../src/dashboard-contract/usage.ts';
import { useApiPages } from '../../api/use-api.ts';
import { apiPath, queryText } from '../../api/client.ts';
import { useAccount, useMode } from '../../app/account.ts';
import { useUrlState } from '../../app/url-state.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RequestDrawer } from './request-drawer.tsx';
import { columns } from './usage-columns.tsx';
import { FilterBar } from './filter-bar.tsx';
import { readFilters } from './usage-filters.ts';

export function Page() {
  const mode = useMode();
  const { id: account } = useAccount();
  const [{ filters, open }, setView] = useUrlState((search) => ({ filters: readFilters(search), open: search.request ?? null }));
  const query = { mode, ...filters };
  const pages = useApiPages('GET /accounts/:account/usage', { query });
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <>
      <PageHeader
        title="Usage"
        description="Each request that was charged for, newest first."
        actions={
          <Button
            component="a"
            href={`${apiPath}/accounts/${encodeURIComponent(account)}/usage.csv${queryText(query)}`}
            download
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            Export CSV
          </Button>
        }
      />
      <FilterBar filters={filters} setFilters={setView} />
      <Panel flush>
        <DataTable<UsageRecord>
          label="Requests"
          pages={pages}
          columns={columns}
          rowKey={({ request_id: id }) => id}
          onOpen={({ request_id: request }) => setView({ request }, { push: true })}
          empty={isFiltered ? <NothingFits /> : <NothingYet mode={mode} />}
        />
      </Panel>
      <RequestDrawer requestId={open} onClose={() => setView({ request: undefined })} />
    </>
  );
}

function NothingFits() {
  return <EmptyState icon={IconActivity} title="No request fits" text="Take a filter away, or choose more days." />;
}

function NothingYet({ mode }: { readonly mode: 'live' | 'test' }) {
  return (
    <EmptyState
      icon={IconActivity}
      title={`No ${mode} requests yet`}
      text="A request shows here as soon as it was answered and charged."
      action={
        <ButtonLink to="/playground" variant="default">
          Try a model
        </ButtonLink>
      }
    />
  );
}
