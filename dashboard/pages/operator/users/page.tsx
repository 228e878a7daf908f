// All users of the dashboard.
import { Badge, Group, Stack, Text } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import { useUrlState } from '../../../parts/url-state.ts';
import type { Output } from '../../../api/client.ts';
import { useSession } from '../../../api/session.ts';
import { useApiPages } from '../../../api/use-api.ts';
import { CutText } from '../../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { AppLink } from '../../../parts/link.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { roleTitle } from '../../../parts/role-title.ts';
import { SearchField } from '../../../parts/search-field.tsx';
import { ResetLinkButton } from '../reset-link-button.tsx';

type User = Output<'GET /operator/users'>['data'][number];

export function Page() {
  const [{ search }, setState] = useUrlState(({ q = '' }) => ({ search: q }));
  const pages = useApiPages('GET /operator/users', { query: { search } });
  const { signup_open: signupOpen } = useSession().features;
  return (
    <>
      <PageHeader
        title="Users"
        description={
          signupOpen
            ? 'Everyone who can sign in. Anybody can sign up.'
            : 'Everyone who can sign in. New users join by invitation.'
        }
      />
      <Stack>
        <SearchField
          label="Search by name, e-mail address or ID"
          value={search}
          onSearch={(text) => setState({ q: text.trim() })}
          maw={360}
        />
        <Panel flush>
          <DataTable
            label="Users"
            pages={pages}
            columns={columns}
            rowKey={(user) => user.id}
            empty={
              <EmptyState
                icon={IconUsers}
                title="No matching users"
                text="Try a different name or e-mail address."
              />
            }
          />
        </Panel>
      </Stack>
    </>
  );
}

const columns: readonly Column<User>[] = [
  {
    title: 'User',
    value: (user) => user.name,
    phone: 'title',
    render: (user) => (
      <>
        <Group gap="xs">
          <CutText fw={500} text={user.name} />
          {user.is_operator && <Badge color="accent">Operator</Badge>}
        </Group>
        <CutText
          block
          size="xs"
          c="dimmed"
          text={`${user.email}${user.email_verified ? '' : ' (not confirmed)'}`}
        />
      </>
    ),
  },
  {
    title: 'Accounts',
    value: (user) => user.accounts.length,
    render: (user) =>
      user.accounts.length === 0 ? (
        <Text c="dimmed">None</Text>
      ) : (
        user.accounts.map((account) => (
          <Text key={account.id} component="div" size="sm">
            <AppLink to="/operator/accounts/$accountId" params={{ accountId: account.id }}>
              {account.name}
            </AppLink>{' '}
            <Text span inherit c="dimmed">
              {roleTitle(account.role)}
            </Text>
          </Text>
        ))
      ),
  },
  {
    title: 'Two-factor',
    value: (user) => user.second_factor,
    render: (user) => (user.second_factor ? 'On' : 'Off'),
  },
  { title: 'Created', kind: 'ago', value: (user) => user.created_at },
  {
    title: '',
    render: (user) => <ResetLinkButton userId={user.id} email={user.email} />,
  },
];
