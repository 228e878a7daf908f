import { Button, Group, Select, Stack, Text, Tooltip } from '@mantine/core';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useIsAtLeast, useMode } from '../../api/account.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { useApi, useApiPages } from '../../api/use-api.ts';
import { Sparkline } from '../../parts/charts/sparkline.tsx';
import { CutText } from '../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { usdText } from '../../parts/money-text.ts';
import { lastDays } from '../../parts/utc-days.ts';
import { searchTextOf } from '../../parts/key-search.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { TimeAgo, useToday } from '../../parts/time-ago.tsx';
import { CapBar } from './cap-bar.tsx';
import { CreateKey } from './create-key.tsx';
import { KeyMenu } from './key-actions.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import { RotateKey } from './rotate-key.tsx';
import { KeepsBodies } from '../../parts/keeps-bodies.tsx';
import { KeyState } from '../../parts/key-state.tsx';
import type { Key } from './key-values.ts';

/** Options of the state filter. Revoked keys are hidden by default. */
const filters = {
  current: { label: 'Not revoked', states: ['active', 'disabled', 'expired'] },
  active: { label: 'Active', states: ['active'] },
  disabled: { label: 'Disabled', states: ['disabled'] },
  expired: { label: 'Expired', states: ['expired'] },
  revoked: { label: 'Revoked', states: ['revoked'] },
  all: { label: 'All', states: ['active', 'disabled', 'expired', 'revoked'] },
} satisfies Record<string, { readonly label: string; readonly states: Key['state'][] }>;

function isFilter(name: string | undefined): name is keyof typeof filters {
  return name !== undefined && Object.hasOwn(filters, name);
}

const sorts = ['spent-today', 'spent-this-month', 'last-used'] as const;

export function Page() {
  const mode = useMode();
  const canChange = useIsAtLeast('admin');
  const [state, setState] = useUrlState(({ q = '', state: name, key, create, sort }) => ({
    search: q,
    sort: sorts.find((each) => each === sort),
    filter: isFilter(name) ? name : ('current' as const),
    keyId: key ?? null,
    isCreating: create === 'yes',
  }));
  const { search, filter, sort, keyId, isCreating } = state;
  const [rotating, setRotating] = useState<Key | null>(null);
  const [copied, setCopied] = useState<Key | null>(null);
  const pages = useApiPages('GET /accounts/:account/keys', {
    query: { mode, search, sort, state: [...filters[filter].states] },
  });
  const costs = useDayCosts();
  const isFiltered = search !== '' || filter !== 'current';
  const create = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => setState({ create: 'yes' }, { push: true })}
    >
      Create key
    </Button>
  );
  const open = (key: Key) => setState({ key: key.id }, { push: true });
  return (
    <>
      <PageHeader
        title="Keys"
        description={
          mode === 'live'
            ? 'Live keys call real models and spend your balance, each within its caps.'
            : 'Test keys call the sandbox and spend play money.'
        }
        actions={canChange && create}
      />
      <Stack>
        <Group gap="sm">
          <SearchField
            label="Search by name or last characters"
            value={search}
            onSearch={(text) => setState({ q: searchTextOf(text) })}
            style={{ flex: '1 1 220px' }}
            maw={360}
          />
          <Select
            aria-label="State"
            data={Object.entries(filters).map(([value, { label }]) => ({ value, label }))}
            value={filter}
            onChange={(value) =>
              setState({ state: value === 'current' ? undefined : (value ?? undefined) })
            }
            allowDeselect={false}
            w={150}
          />
        </Group>
        <Panel flush>
          <DataTable
            label="API keys"
            dense
            pages={pages}
            columns={
              canChange
                ? [
                    ...columnsOf(costs),
                    menuColumn({ onEdit: open, onRotate: setRotating, onDuplicate: setCopied }),
                  ]
                : columnsOf(costs)
            }
            rowKey={(key) => key.id}
            onOpen={open}
            sorted={sort}
            onSort={(order) => setState({ sort: order })}
            empty={
              isFiltered ? (
                <EmptyState
                  icon={IconKey}
                  title="No matching keys"
                  text="Try a different search or state."
                  action={
                    <Button
                      variant="default"
                      onClick={() => setState({ q: undefined, state: undefined })}
                    >
                      Clear filters
                    </Button>
                  }
                />
              ) : (
                <EmptyState
                  icon={IconKey}
                  title={`No ${mode} keys yet`}
                  text={
                    canChange
                      ? 'Programs use a key to call models. Create one key per program, each with its own caps.'
                      : 'An admin or owner of the account can create one.'
                  }
                  action={canChange && create}
                />
              )
            }
          />
        </Panel>
      </Stack>
      <CreateKey
        opened={(isCreating || copied !== null) && canChange}
        copied={copied}
        onClose={() => {
          setCopied(null);
          setState({ create: undefined });
        }}
      />
      <RotateKey row={rotating} onClose={() => setRotating(null)} />
      <KeyDrawer keyId={keyId} onClose={() => setState({ key: undefined })} />
    </>
  );
}

/** Costs of each day by key, of those that cost most. Empty while they load. */
type DayCosts = ReadonlyMap<string | null, readonly number[] | null>;

function useDayCosts(): DayCosts {
  const days = lastDays(30, useToday());
  const { data } = useApi('GET /accounts/:account/analytics', {
    query: { mode: useMode(), by: 'key', ...days },
  });
  return new Map(data?.rows.map(({ id, day_costs_micros: costs }) => [id, costs]));
}

const columnsOf = (costs: DayCosts): readonly Column<Key>[] => [
  {
    title: 'Key',
    phone: 'title',
    render: (key) => <KeyName row={key} />,
  },
  {
    title: 'Today',
    kind: 'money',
    align: 'left',
    value: (key) => key.today.spent_micros,
    width: 170,
    sort: 'spent-today',
    render: (key) => (
      <CapBar label="Spent today" spend={key.today} capMicros={key.daily_cap_micros} />
    ),
  },
  {
    title: 'This month',
    kind: 'money',
    align: 'left',
    value: (key) => key.this_month.spent_micros,
    width: 170,
    sort: 'spent-this-month',
    render: (key) => (
      <CapBar label="Spent this month" spend={key.this_month} capMicros={key.monthly_cap_micros} />
    ),
  },
  {
    title: '30 days',
    align: 'right',
    tablet: 'hidden',
    render: (key) => <Sparkline label="Cost by day" values={costs.get(key.id)} format={usdText} />,
  },
  { title: 'Models', render: (key) => <Models ids={key.models} /> },
  {
    title: 'Last used',
    kind: 'ago',
    sort: 'last-used',
    render: (key) => <TimeAgo at={key.last_used_at} never="Never" />,
  },
];

function menuColumn({
  onEdit,
  onRotate,
  onDuplicate,
}: Readonly<Record<'onEdit' | 'onRotate' | 'onDuplicate', (key: Key) => void>>): Column<Key> {
  // On a phone, opening the key offers the same actions.
  return {
    title: '',
    width: 60,
    phone: 'hidden',
    render: (key) => (
      <KeyMenu
        row={key}
        onEdit={() => onEdit(key)}
        onRotate={() => onRotate(key)}
        onDuplicate={() => onDuplicate(key)}
      />
    ),
  };
}

function KeyName({ row }: { readonly row: Key }) {
  return (
    <>
      <Group gap="xs" wrap="nowrap">
        <CutText fw={500} text={row.name || 'Unnamed'} />
        {row.state !== 'active' && <KeyState state={row.state} />}
        {row.body_days !== null && <KeepsBodies days={row.body_days} />}
      </Group>
      <Text size="xs" c="dimmed" ff="monospace">
        {row.hint}
      </Text>
      {row.state === 'active' && row.expires_at !== null && (
        <Text component="div" size="xs" c="dimmed">
          expires <TimeAgo at={row.expires_at} />
        </Text>
      )}
    </>
  );
}

function Models({ ids }: { readonly ids: readonly string[] | null }) {
  if (ids === null) return <Text inherit>All</Text>;
  if (ids.length === 1) return <CutText text={ids[0]!} />;
  return (
    <Tooltip
      label={ids.slice(0, 12).join(', ') + (ids.length > 12 ? ' …' : '')}
      multiline
      maw={320}
    >
      <Text inherit span>
        {ids.length} models
      </Text>
    </Tooltip>
  );
}
