// Cost, requests, errors and latencies of any days, compared with as many days before.
import { SegmentedControl, Select, Stack } from '@mantine/core';
import { useMode } from '../../api/account.ts';
import { useApi } from '../../api/use-api.ts';
import { CostChart } from '../../parts/charts/cost-chart.tsx';
import { ErrorCounts } from '../../parts/error-counts.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useRange } from '../../parts/range-picker.tsx';
import type { DayRange } from '../../parts/utc-days.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { Figures } from './figures.tsx';
import { GroupTable } from './group-table.tsx';
import { groupNames, type GroupName, readGroup, tagNames } from './groups.ts';
import { Lines } from './lines.tsx';
import { PromptCaches } from './prompt-caches.tsx';
import { WeekHeat } from './week-heat.tsx';

export function Page() {
  const { range, picker } = useRange();
  return (
    <>
      <PageHeader
        title="Analytics"
        description="Compared with as many days before. Days are in UTC."
        actions={picker}
      />
      <Analytics range={range} />
    </>
  );
}

/** Also on the operator's page of an account. */
export function Analytics({ range }: { readonly range: DayRange }) {
  const mode = useMode();
  const [{ by, tag }, setState] = useUrlState((search) => ({
    by: readGroup(search),
    tag: search.tag,
  }));
  const query = useApi(
    'GET /accounts/:account/analytics',
    { query: { mode, ...range, by, ...(by === 'tag' && { tag_name: tag }) } },
    { keepPrevious: true },
  );
  const { data: analytics, error } = query;
  const names = by === 'tag' ? tagNames(analytics?.rows ?? []) : [];
  return (
    <Stack gap="md">
      {error && <ErrorNotice error={error} onRetry={() => void query.refetch()} />}
      <Figures analytics={analytics} range={range} />
      <Panel
        title={range.from === range.to ? 'Cost by hour' : 'Cost by day'}
        actions={
          <>
            {names.length > 1 && (
              <Select
                size="xs"
                aria-label="Tag name"
                data={names}
                value={analytics?.tag_name ?? null}
                onChange={(name) => setState({ tag: name ?? undefined })}
                allowDeselect={false}
                w={140}
              />
            )}
            <SegmentedControl
              size="xs"
              aria-label="Group by"
              value={by}
              onChange={(value) => setState({ by: value === 'model' ? undefined : value })}
              data={Object.entries(groupNames).map(([value, { label }]) => ({ value, label }))}
            />
          </>
        }
      >
        <CostChart query={query} range={range} />
      </Panel>
      <Lines mode={mode} range={range} />
      <Panel title={titleOf(by)} description={groupNames[by].note} flush>
        <GroupTable {...{ by, analytics, range }} />
      </Panel>
      <PromptCaches mode={mode} range={range} />
      <Panel
        title="Hours of the week"
        description="Requests by UTC hour. The stronger the colour, the more; a click shows them."
      >
        <WeekHeat mode={mode} range={range} />
      </Panel>
      <Panel title="Errors" description="Refused and failed requests. None was charged.">
        <QueryView query={query}>
          {({ errors }) => <ErrorCounts errors={errors} range={range} />}
        </QueryView>
      </Panel>
    </Stack>
  );
}

function titleOf(by: GroupName): string {
  return `By ${groupNames[by].label.toLowerCase()}`;
}
