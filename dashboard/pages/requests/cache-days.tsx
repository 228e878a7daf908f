import { SimpleGrid } from '@mantine/core';
import { IconDatabase } from '@tabler/icons-react';
import type { CacheDay } from '../../../src/management/contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { useMode } from '../../api/account.ts';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Money } from '../../parts/money.tsx';
import { countText } from '../../parts/number-text.ts';
import { Panel } from '../../parts/panel.tsx';
import { Stat } from '../../parts/stat.tsx';
import { useToday } from '../../parts/time-ago.tsx';
import { lastDays } from '../../parts/utc-days.ts';

const daysShown = 90;

/** Cache hits and replays by day, and the money they saved. */
export function CacheDays() {
  const mode = useMode();
  const days = lastDays(daysShown, useToday());
  const cached = useApi('GET /accounts/:account/cache-days', { query: { mode, ...days } });
  const rows = cached.data?.data;
  const sum = (field: 'hits' | 'replays' | 'saved_micros') =>
    rows?.reduce((total, row) => total + row[field], 0);
  const [hits, replays] = [sum('hits'), sum('replays')];
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }} mb="md">
        <Stat
          label="Saved"
          value={rows && <Money micros={sum('saved_micros')} />}
          hint={`In the last ${daysShown} days`}
        />
        <Stat
          label="Cache hits"
          value={hits === undefined ? undefined : countText(hits)}
          hint="Identical requests"
        />
        <Stat
          label="Replays"
          value={replays === undefined ? undefined : countText(replays)}
          hint="Retries with the same Idempotency-Key"
        />
      </SimpleGrid>
      <Panel
        flush
        title="By day"
        description="Days are in UTC. Cached answers and replays are free."
      >
        <DataTable<CacheDay>
          label="Cached answers by day"
          rows={rows}
          error={cached.error}
          onRetry={() => void cached.refetch()}
          columns={columns}
          rowKey={({ day }) => day}
          empty={
            <EmptyState
              icon={IconDatabase}
              title="No cached answers yet"
              text="A request at temperature 0 is answered from the cache if an identical one was answered before."
            />
          }
        />
      </Panel>
    </>
  );
}

const columns: readonly Column<CacheDay>[] = [
  { title: 'Day', kind: 'day', value: ({ day }) => day, phone: 'title' },
  { title: 'Cache hits', value: ({ hits }) => hits, align: 'right' },
  { title: 'Replays', value: ({ replays }) => replays, align: 'right' },
  {
    title: 'Tokens',
    value: ({ input_tokens: input, output_tokens: output }) => input + output,
    align: 'right',
    render: ({ input_tokens: input, output_tokens: output }) =>
      `${countText(input)} → ${countText(output)}`,
  },
  { title: 'Saved', kind: 'money', value: ({ saved_micros: micros }) => micros },
];
