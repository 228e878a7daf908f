// What prompts were read from providers' caches, what was not, why, and what that cost.
import { SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { IconDatabase } from '@tabler/icons-react';
import { useState } from 'react';
import type { Mode } from '../../api/account.ts';
import type { Output, Query } from '../../api/client.ts';
import { useServiceName } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { missText } from '../../parts/cache-miss.ts';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Money } from '../../parts/money.tsx';
import { countText, shareText, shortCountText } from '../../parts/number-text.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { DateTime } from '../../parts/time-ago.tsx';
import type { DayRange } from '../../parts/utc-days.ts';

const path = 'GET /accounts/:account/prompt-cache';
type Report = Output<typeof path>;
type Row = Report['rows'][number];
type By = Query<typeof path>['by'];

const groups: Readonly<Record<By, string>> = {
  model: 'Model',
  key: 'Key',
  conversation: 'Conversation',
  day: 'Day',
};
const daysMax = 31;

type Props = { readonly mode: Mode; readonly range: DayRange };

export function PromptCaches({ mode, range }: Props) {
  const [by, setBy] = useState<By>('model');
  const isLong = (Date.parse(range.to) - Date.parse(range.from)) / 86_400_000 >= daysMax;
  return (
    <Panel
      title="Prompt caches"
      description="Input that providers kept from earlier turns costs a fraction. This shows what was read, and why the rest was not."
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Group prompt caches by"
          value={by}
          onChange={(value) => setBy(value as By)}
          data={Object.entries(groups).map(([value, label]) => ({ value, label }))}
        />
      }
    >
      {mode === 'test' ? (
        <Text c="dimmed">Answers to test keys come from no provider, so there is no cache.</Text>
      ) : isLong ? (
        <Text c="dimmed">Choose at most {daysMax} days to see this.</Text>
      ) : (
        <CacheFigures mode={mode} range={range} by={by} />
      )}
    </Panel>
  );
}

function CacheFigures({ mode, range, by }: Props & { readonly by: By }) {
  const service = useServiceName();
  const query = useApi(path, { query: { mode, ...range, by } }, { keepPrevious: true });
  return (
    <QueryView query={query} skeleton={<Skeleton h={180} />}>
      {({ total, rows, cut_at: cutAt }) => (
        <Stack gap="md">
          {cutAt !== null && (
            <Text size="sm" c="dimmed">
              There were too many requests. Only those since <DateTime at={cutAt} /> are counted.
            </Text>
          )}
          {total.requests > 0 && (
            <Text size="sm">
              {shareText(total.read_tokens / Math.max(total.input_tokens, 1))} of the input was read
              from caches, which saved <Money short micros={total.saved_micros} />: marks of{' '}
              {service} <Money short micros={total.saved_by_marks_micros} />, staying on one route{' '}
              <Money short micros={total.saved_by_affinity_micros} />.
            </Text>
          )}
          <DataTable<Row>
            label="Prompt caches"
            rows={rows}
            columns={columnsOf(by)}
            rowKey={({ id }) => id}
            dense
            empty={
              <EmptyState
                icon={IconDatabase}
                title="No prompts in these days"
                text="Requests that ran before this was counted are not shown."
              />
            }
          />
        </Stack>
      )}
    </QueryView>
  );
}

function columnsOf(by: By): readonly Column<Row>[] {
  return [
    {
      title: groups[by],
      phone: 'title',
      render: (row) =>
        by === 'conversation' ? (
          <>
            {row.model_id}{' '}
            <Text span inherit c="dimmed">
              <DateTime at={row.last_at} />
            </Text>
          </>
        ) : (
          (row.name ?? (by === 'key' ? 'Unnamed' : row.id))
        ),
    },
    { title: 'Requests', align: 'right', render: ({ requests }) => countText(requests) },
    {
      title: 'Read',
      align: 'right',
      render: ({ read_tokens: read, input_tokens: input }) =>
        `${shortCountText(read)} of ${shortCountText(input)}`,
    },
    { title: 'Saved', align: 'right', render: (row) => <Money short micros={row.saved_micros} /> },
    {
      title: 'Lost',
      align: 'right',
      render: ({ missed }) => (
        <Money short micros={missed.reduce((sum, miss) => sum + miss.cost_micros, 0)} />
      ),
    },
    {
      title: 'Not read, because',
      render: ({ missed }) => (
        <Stack gap={0}>
          {missed.map((miss) => (
            <Text key={miss.reason} span inherit>
              {missText(miss, by === 'conversation')}
            </Text>
          ))}
          {missed.length === 0 && '–'}
        </Stack>
      ),
    },
  ];
}
