// All accounts, with their balances.
import { Badge, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconBuildingBank, IconPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useUrlState } from '../../../parts/url-state.ts';
import type { Output } from '../../../api/client.ts';
import { useApiPages } from '../../../api/use-api.ts';
import { CutText } from '../../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { Sparkline } from '../../../parts/charts/sparkline.tsx';
import { Money } from '../../../parts/money.tsx';
import { usdText } from '../../../parts/money-text.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { Day } from '../../../parts/time-ago.tsx';
import { multiplierText } from '../../../parts/multiplier-text.ts';
import { CreateAccount } from './create-account.tsx';

type Row = Output<'GET /operator/accounts'>['data'][number];

const states = [
  { value: 'all', label: 'All accounts' },
  { value: 'frozen', label: 'Frozen' },
  { value: 'open', label: 'Not frozen' },
];

export function Page() {
  const navigate = useNavigate();
  const [{ search, state, isCreating }, setState] = useUrlState(
    ({ q = '', state: name = 'all', create }) => ({
      search: q,
      state: name,
      isCreating: create === 'yes',
    }),
  );
  const frozen = state === 'frozen' ? true : state === 'open' ? false : undefined;
  const pages = useApiPages('GET /operator/accounts', { query: { search, frozen } });
  const open = (id: string) =>
    void navigate({ to: '/operator/accounts/$accountId', params: { accountId: id } });
  return (
    <>
      <PageHeader
        title="Accounts"
        description="All accounts of this service, their balances and what they brought in 30 days."
        actions={
          <Button
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setState({ create: 'yes' }, { push: true })}
          >
            Create account
          </Button>
        }
      />
      <Stack>
        <Group gap="sm">
          <SearchField
            label="Search by name or ID"
            value={search}
            onSearch={(text) => setState({ q: text.trim() })}
            style={{ flex: '1 1 220px' }}
            maw={360}
          />
          <Select
            aria-label="State"
            data={states}
            value={state}
            onChange={(value) =>
              setState({ state: value === 'all' ? undefined : (value ?? undefined) })
            }
            allowDeselect={false}
            w={160}
          />
        </Group>
        <Panel flush>
          <DataTable
            label="Accounts"
            pages={pages}
            columns={columns}
            dense
            rowKey={(row) => row.id}
            onOpen={(row) => open(row.id)}
            empty={
              <EmptyState
                icon={IconBuildingBank}
                title="No matching accounts"
                text="Try a different name, or the full ID."
              />
            }
          />
        </Panel>
      </Stack>
      <CreateAccount
        opened={isCreating}
        onClose={() => setState({ create: undefined })}
        onCreated={open}
      />
    </>
  );
}

type Sums = Omit<Row['last_30_days'], 'day_revenues_micros'>;

/** A column with a sum of live requests in the last 30 days. */
function sumColumn(title: string, name: keyof Sums): Column<Row> {
  return {
    title,
    kind: 'money',
    value: (row) => row.last_30_days[name],
    render: ({ last_30_days: { [name]: micros } }) => (
      <Money short micros={micros} c={micros < 0 ? 'red' : undefined} />
    ),
  };
}

const columns: readonly Column<Row>[] = [
  {
    title: 'Account',
    value: (row) => row.name,
    phone: 'title',
    render: (row) => (
      <>
        <Group gap="xs" wrap="nowrap">
          <CutText fw={500} text={row.name} />
          {row.frozen && <Badge color="orange">Frozen</Badge>}
        </Group>
        <CutText block size="xs" c="dimmed" text={row.owner ? row.owner.email : 'No owner yet'} />
        <Text size="xs" c="dimmed" ff="monospace">
          {row.id}
        </Text>
      </>
    ),
  },
  {
    title: 'Available',
    kind: 'money',
    value: (row) => row.live.available_micros,
    render: (row) => (
      <Money
        short
        micros={row.live.available_micros}
        c={row.live.available_micros < 0 ? 'red' : undefined}
      />
    ),
  },
  {
    ...sumColumn('Revenue, 30 d', 'revenue_micros'),
    render: ({ last_30_days: { revenue_micros: micros, day_revenues_micros: days } }) => (
      <>
        <Money short micros={micros} />
        {micros > 0 && <Sparkline label="Revenue by day" values={days} format={usdText} />}
      </>
    ),
  },
  sumColumn('Cost', 'cost_micros'),
  sumColumn('Margin', 'margin_micros'),
  {
    title: 'Price',
    value: (row) => row.price_multiplier_ppm,
    align: 'right',
    phone: 'hidden',
    tablet: 'hidden',
    render: (row) => multiplierText(row.price_multiplier_ppm),
  },
  {
    title: 'Last use',
    kind: 'day',
    value: (row) => row.last_charged_on,
    render: (row) =>
      row.last_charged_on === null ? (
        <Text inherit c="dimmed">
          Never
        </Text>
      ) : (
        <Day at={row.last_charged_on} />
      ),
  },
  { title: 'Created', kind: 'ago', tablet: 'hidden', value: (row) => row.created_at },
];
