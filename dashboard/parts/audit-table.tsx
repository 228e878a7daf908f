// Audit entries in sentences, with the recorded fields one click away.
import { Code, Group, Stack, Text } from '@mantine/core';
import { IconClipboardList } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Pages } from '../api/use-api.ts';
import { changesOf } from './audit-changes.ts';
import { type Entry, sayEntry } from './audit-sentences.ts';
import { DataTable, type Column } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { AppLink } from './link.tsx';
import { Panel } from './panel.tsx';
import type { Search } from './url-state.ts';

type Props = {
  readonly pages: Pages<Entry>;
  /** True when filters hide entries. */
  readonly isFiltered?: boolean;
  /** On the operator's pages: links lead to these. */
  readonly isOperator?: boolean;
};

export function AuditTable({ pages, isFiltered = false, isOperator = false }: Props) {
  return (
    <Panel flush>
      <DataTable
        label="Audit log"
        pages={pages}
        columns={isOperator ? operatorColumns : accountColumns}
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

const [accountColumns, operatorColumns] = [columnsOf(false), columnsOf(true)];

function columnsOf(isOperator: boolean): readonly Column<Entry>[] {
  return [
    { title: 'When', width: 190, kind: 'time', value: (entry) => entry.created_at },
    {
      title: 'What happened',
      value: (entry) => entry.actor.name,
      phone: 'title',
      render: (entry) => <Said entry={entry} isOperator={isOperator} />,
    },
    { title: 'Record', width: 220, render: (entry) => <Recorded entry={entry} /> },
  ];
}

type SaidProps = { readonly entry: Entry; readonly isOperator: boolean };

function Said({ entry, isOperator }: SaidProps) {
  const { who, what, it, details } = sayEntry(entry);
  const [start, end] = what.split('{it}');
  const { account_id: account, names } = entry;
  const isElsewhere = isOperator && account !== null && account !== entry.subject;
  return (
    <Stack gap={2} style={{ overflowWrap: 'anywhere' }}>
      <Text inherit fw={400}>
        <b>{who}</b> {start}
        {end !== undefined && <Thing entry={entry} isOperator={isOperator} name={it} />}
        {end}
        {isElsewhere && (
          <>
            {' in '}
            <AccountName id={account} name={names[account] ?? account} />
          </>
        )}
      </Text>
      {details !== '' && (
        <Text size="sm" c="dimmed" fw={400}>
          {details}
        </Text>
      )}
    </Stack>
  );
}

function AccountName({ id, name }: { readonly id: string; readonly name: string }) {
  return <To place={accountPlace(id)} name={name} />;
}

function Thing({ entry, isOperator, name }: SaidProps & { readonly name: string }): ReactNode {
  const place = isOperator ? operatorPlaceOf(entry) : ownPlaceOf(entry);
  return place && entry.after !== null ? <To place={place} name={name} /> : <b>{name}</b>;
}

type Place = { readonly to: string; readonly search?: Search };

function To({
  place: { to, search = {} },
  name,
}: {
  readonly place: Place;
  readonly name: string;
}) {
  // The places are in these functions, which a test follows.
  return (
    <AppLink inherit to={to as '/'} search={search}>
      {name}
    </AppLink>
  );
}

const accountPlace = (id: string, search: Search = {}): Place => ({
  to: `/operator/accounts/${id}`,
  search,
});

function ownPlaceOf({ action, subject, names }: Entry): Place | null {
  const [kind] = action.split('.');
  if (action === 'account.read-bodies') return { to: '/requests', search: { request: subject } };
  if (!Object.hasOwn(names, subject)) return null;
  if (kind === 'key') return { to: '/keys', search: { key: subject } };
  return kind === 'alert' ? { to: '/alerts' } : null;
}

function operatorPlaceOf({ action, subject, account_id: account, names }: Entry): Place | null {
  const [kind] = action.split('.');
  if (kind === 'settings') return { to: '/operator/settings' };
  if (kind === 'payment') return { to: '/operator/payments', search: { tab: 'all' } };
  if (action === 'account.read-bodies')
    return accountPlace(account!, { tab: 'requests', request: subject });
  // What is gone has no name, and no page.
  if (!Object.hasOwn(names, subject)) return null;
  if (kind === 'account') return accountPlace(subject);
  if (kind === 'key') return accountPlace(account!, { tab: 'keys', key: subject });
  if (kind === 'member' || kind === 'user')
    return { to: '/operator/users', search: { q: names[subject] } };
  if (kind === 'admin-key') return { to: '/operator/admin-keys' };
  return account === null ? { to: '/operator/alerts' } : null;
}

/** A click away, because sentences say nearly all of it. */
function Recorded({ entry }: { readonly entry: Entry }) {
  const { action, subject, actor } = entry;
  return (
    <details>
      <summary>{action}</summary>
      <Stack gap={2} mt={4}>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {[actor.kind, actor.id, actor.address].filter(Boolean).join(', ')}
          <br />
          {subject}
        </Text>
        {changesOf(entry.before, entry.after).map(({ field, before, after }) => (
          <Group key={field} gap={6} wrap="wrap">
            <Text size="xs" c="dimmed">
              {field}
            </Text>
            {before !== null && (
              <Code style={{ textDecoration: 'line-through', overflowWrap: 'anywhere' }}>
                {before}
              </Code>
            )}
            {before !== null && after !== null && (
              <span role="img" aria-label="became">
                →
              </span>
            )}
            {after !== null && <Code style={{ overflowWrap: 'anywhere' }}>{after}</Code>}
          </Group>
        ))}
      </Stack>
    </details>
  );
}
