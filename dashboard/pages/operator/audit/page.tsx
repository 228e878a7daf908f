// Every change made in the dashboard, by a command, by an admin key or by Stripe.
import { Group, Select, Stack } from '@mantine/core';
import type { AuditKind } from '../../../../src/management/contract/audit-log.ts';
import { useApi, useApiPages } from '../../../api/use-api.ts';
import { useUrlState } from '../../../parts/url-state.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { AuditTable } from '../../../parts/audit-table.tsx';
import { useTypedSearch } from '../../../parts/typed-search.ts';

const labels: Readonly<Record<AuditKind, string>> = {
  account: 'Accounts',
  key: 'Keys',
  payment: 'Payments',
  'top-up': 'Top-ups',
  'auto-top-up': 'Automatic top-ups',
  member: 'Members',
  invitation: 'Invitations',
  user: 'Users',
  session: 'Sessions',
  secret: 'Secrets',
  'admin-key': 'Admin keys',
  alert: 'Alerts',
  'own-key': 'Own keys',
  batch: 'Batches',
  backup: 'Backups',
  database: 'Moves of the database',
  settings: 'Settings',
};
/** The filter takes prefixes of actions. */
const kinds = Object.entries(labels).map(([kind, label]) => ({ value: `${kind}.`, label }));

export function Page() {
  const [{ action, subject, of, actor }, setState] = useUrlState(
    ({ action: name, subject: id = '', of: account = '', actor: by }) => ({
      action: kinds.find(({ value }) => value === name)?.value ?? null,
      subject: id,
      of: account,
      actor: by,
    }),
  );
  const orUndefined = (text: string) => (text === '' ? undefined : text);
  const pages = useApiPages('GET /operator/audit-log', {
    query: {
      action: action ?? undefined,
      actor,
      account: orUndefined(of),
      subject: orUndefined(subject),
    },
  });
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Who changed what, and when. Entries cannot be changed or deleted."
      />
      <Stack>
        <Group gap="sm">
          <Select
            aria-label="Type of change"
            placeholder="All changes"
            data={kinds}
            value={action}
            onChange={(value) => setState({ action: value ?? undefined })}
            clearable
            w={170}
          />
          <ActorSelect
            value={actor ?? null}
            onChange={(id) => setState({ actor: id ?? undefined })}
          />
          <SearchField
            label="Account ID"
            value={of}
            onSearch={(text) => setState({ of: text.trim() })}
            style={{ flex: '1 1 200px' }}
            maw={320}
          />
          <SearchField
            label="ID of the changed object"
            value={subject}
            onSearch={(text) => setState({ subject: text.trim() })}
            style={{ flex: '1 1 200px' }}
            maw={320}
          />
        </Group>
        <AuditTable
          isOperator
          pages={pages}
          isFiltered={[action, actor, of, subject].some(Boolean)}
        />
      </Stack>
    </>
  );
}

type ActorProps = { readonly value: string | null; readonly onChange: (id: string | null) => void };

const usersShown = 50;
const services = [
  { value: 'stripe', label: 'Stripe' },
  { value: 'auto-top-up', label: 'Automatic top-up' },
];

/** Select field for who made a change: a user, found by name or e-mail address, or Stripe. */
function ActorSelect({ value, onChange }: ActorProps) {
  const { search, typing } = useTypedSearch();
  const found = useApi(
    'GET /operator/users',
    { query: { search, limit: usersShown } },
    { keepPrevious: true },
  );
  const chosen = useApi(
    'GET /operator/users',
    { query: { search: value ?? '', limit: 1 } },
    { enabled: value !== null },
  );
  const users = [...(found.data?.data ?? []), ...(chosen.data?.data ?? [])];
  const emails = new Map(users.map(({ id, email }) => [id, email]));
  for (const { value: id, label } of services) emails.set(id, label);
  if (value !== null && !emails.has(value)) emails.set(value, value);
  return (
    <Select
      aria-label="Changed by"
      placeholder="By anyone"
      data={[...emails].map(([id, label]) => ({ value: id, label }))}
      value={value}
      onChange={onChange}
      searchable
      {...typing}
      // The gateway has filtered already, also by name and id.
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching ? 'Searching…' : 'No matching users'}
      clearable
      w={220}
    />
  );
}
