// Every request of the account: charged, repeated, refused and failed.
import { Button, Group, Switch } from '@mantine/core';
import { useHotkeys, useLocalStorage } from '@mantine/hooks';
import { IconActivity, IconDownload } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { RequestRecord } from '../../../src/management/contract/requests.ts';
import { useAccount, useIsAtLeast, useMode, type Mode } from '../../api/account.ts';
import { useAccountInSight } from '../../api/account-in-sight.ts';
import { apiPath, queryText } from '../../api/client.ts';
import { useApiPages, type Pages } from '../../api/use-api.ts';
import { focusRow, moveFocus } from '../../parts/data-table-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { ColumnMenu } from './column-menu.tsx';
import { FilterBar } from './filter-bar.tsx';
import { columns, defaultColumns } from './request-columns.tsx';
import type { Neighbours } from './request-actions.tsx';
import { RequestDrawer } from './request-drawer.tsx';
import { readFilters, readSort } from './request-filters.ts';
import { Totals } from './totals.tsx';

const tailEveryMs = 3_000;

export function Page() {
  return (
    <>
      <PageHeader
        title="Requests"
        description="Everything that was sent with this account’s keys."
      />
      <Requests />
    </>
  );
}

/** Also on the operator's page of an account. */
export function Requests() {
  const mode = useMode();
  const { id: account } = useAccount();
  const door = useAccountInSight() ? '/operator' : '';
  const [{ filters, sort, open }, setView] = useUrlState((search) => ({
    filters: readFilters(search),
    sort: readSort(search),
    open: search.request ?? null,
  }));
  const [isLive, setIsLive] = useState(false);
  const [chosen, setChosen] = useLocalStorage<readonly string[]>({
    key: 'tollgate.requests.columns',
    defaultValue: defaultColumns,
    getInitialValueInEffect: false,
  });
  const query = { mode, ...filters, sort };
  const pages = useApiPages(
    'GET /accounts/:account/requests',
    { query },
    isLive ? tailEveryMs : null,
  );
  const neighbours = useNeighbours(pages, open);
  useHotkeys([
    ['j', () => moveFocus(1)],
    ['k', () => moveFocus(-1)],
  ]);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const { code: _, outcome, ...exported } = filters;
  const exportQuery = {
    mode,
    ...exported,
    ...((outcome === 'complete' || outcome === 'cut-off') && { outcome }),
  };
  return (
    <>
      <FilterBar filters={filters} setFilters={setView} />
      <Totals mode={mode} filters={filters} />
      <Panel
        flush
        title="Requests"
        description={
          sort &&
          `The highest hundred of ${filters.from || filters.to ? 'the chosen days' : 'the last 30 days'}. Choose at most 31 days.`
        }
        actions={
          <Group gap="sm">
            <Switch
              label="Live"
              checked={isLive}
              onChange={({ currentTarget: { checked } }) => setIsLive(checked)}
            />
            <ColumnMenu columns={columns} chosen={chosen} onChange={setChosen} />
            <Button
              component="a"
              href={`${apiPath}${door}/accounts/${encodeURIComponent(account)}/usage.csv${queryText(exportQuery)}`}
              download
              size="xs"
              variant="default"
              leftSection={<IconDownload size={16} aria-hidden />}
              title="Charged requests that match the filters"
            >
              Export CSV
            </Button>
          </Group>
        }
      >
        <DataTable<RequestRecord>
          label="Requests"
          pages={pages}
          columns={columns.filter(({ id }) => id === 'time' || chosen.includes(id))}
          sorted={sort}
          onSort={(next) => setView({ sort: next })}
          rowKey={({ request_id: id }) => id}
          onOpen={({ request_id: request }) => setView({ request }, { push: true })}
          dense
          empty={isFiltered ? <NoMatches /> : <NoRequestsYet mode={mode} />}
        />
      </Panel>
      <RequestDrawer
        requestId={open}
        neighbours={neighbours}
        onShow={(request) => setView({ request }, { push: false })}
        onClose={() => setView({ request: undefined })}
      />
    </>
  );
}

/** Loads more of the list at its end, and focuses the shown request's row when it closes. */
function useNeighbours(pages: Pages<RequestRecord>, open: string | null): Neighbours {
  const ids = pages.rows?.map(({ request_id: id }) => id) ?? [];
  const at = open === null ? -1 : ids.indexOf(open);
  const { hasMore, isLoadingMore, error, loadMore } = pages;
  const isAtEnd = at !== -1 && at === ids.length - 1 && hasMore && !isLoadingMore && !error;
  useEffect(() => {
    if (isAtEnd) loadMore();
  });
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (open === null && last.current !== null) focusRow(last.current);
    last.current = open;
  }, [open]);
  return { previous: ids[at - 1] ?? null, next: at === -1 ? null : (ids[at + 1] ?? null) };
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

function NoRequestsYet({ mode }: { readonly mode: Mode }) {
  const canTry = useIsAtLeast('member');
  return (
    <EmptyState
      icon={IconActivity}
      title={`No ${mode} requests yet`}
      text="Charged requests appear here at once, all others within a few seconds."
      action={
        canTry && (
          <ButtonLink to="/playground" variant="default">
            Try a model
          </ButtonLink>
        )
      }
    />
  );
}
