// Audit entries, with the values before and after.
import { Code, Group, Stack, Text } from '@mantine/core';
import { IconClipboardList } from '@tabler/icons-react';
import type { Output } from '../api/client.ts';
import type { Pages } from '../api/use-api.ts';
import { DataTable, type Column } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { Panel } from './panel.tsx';
import { DateTime } from './time-ago.tsx';
import { changesOf } from './audit-changes.ts';

type Entry = Output<'GET /operator/audit-log'>['data'][number];

type Props = {
  readonly pages: Pages<Entry>;
  /** True when filters hide entries. */
  readonly isFiltered?: boolean;
};

export function AuditTable({ pages, isFiltered = false }: Props) {
  return (
    <Panel flush>
      <DataTable
        label="Audit log"
        pages={pages}
        columns={columns}
        rowKey={(entry) => entry.id}
        empty={
          <EmptyState
            icon={IconClipboardList}
            title={isFiltered ? 'No matching changes' : 'No changes yet'}
            text={
              isFiltered
                ? 'Remove a filter, or check the ID.'
                : 'Changes by people, commands and Stripe appear here.'
            }
          />
        }
      />
    </Panel>
  );
}

const columns: readonly Column<Entry>[] = [
  {
    title: 'When',
    width: 190,
    kind: 'time',
    value: (entry) => entry.created_at,
    render: (entry) => <DateTime at={entry.created_at} />,
  },
  {
    title: 'Who',
    width: 230,
    value: (entry) => entry.actor.name,
    render: (entry) => (
      <>
        <Text inherit style={{ overflowWrap: 'anywhere' }}>
          {entry.actor.name}
        </Text>
        <Text size="xs" c="dimmed">
          {entry.actor.kind === 'user' ? entry.actor.address : entry.actor.kind}
        </Text>
      </>
    ),
  },
  {
    title: 'Action',
    width: 260,
    value: (entry) => entry.action,
    phone: 'title',
    render: (entry) => (
      <>
        <Text inherit fw={500}>
          {entry.action}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {entry.subject}
        </Text>
      </>
    ),
  },
  { title: 'Change', render: (entry) => <Changes entry={entry} /> },
];

function Changes({ entry }: { readonly entry: Entry }) {
  const changes = changesOf(entry.before, entry.after);
  return (
    <Stack gap={2}>
      {changes.map(({ field, before, after }) => (
        <Group key={field} gap={6} wrap="wrap">
          <Text size="xs" c="dimmed">
            {field}
          </Text>
          {before !== null && (
            <Code style={{ textDecoration: 'line-through', overflowWrap: 'anywhere' }}>
              {before}
            </Code>
          )}
          {before !== null && after !== null && <span aria-label="became">→</span>}
          {after !== null && <Code style={{ overflowWrap: 'anywhere' }}>{after}</Code>}
        </Group>
      ))}
    </Stack>
  );
}
