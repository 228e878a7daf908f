// Open invitations to an account, which can be withdrawn.
import { Button, Text, VisuallyHidden } from '@mantine/core';
import { useAccountInSight } from '../api/account-in-sight.ts';
import type { Output } from '../api/client.ts';
import { useApi, useChange } from '../api/use-api.ts';
import { confirm } from './confirm.tsx';
import { CutText } from './cut-text.tsx';
import { DataTable, type Column } from './data-table.tsx';
import { Panel } from './panel.tsx';
import { roleTitle } from './role-title.ts';

type Invitation = Output<'GET /accounts/:account/invitations'>['data'][number];

export function Invitations() {
  const invitations = useApi('GET /accounts/:account/invitations', {});
  return (
    <Panel title="Invitations" description="Sent but not yet accepted." flush>
      <DataTable
        label="Invitations"
        search="Search invitations"
        columns={columns}
        rows={invitations.data?.data}
        error={invitations.error}
        onRetry={() => void invitations.refetch()}
        rowKey={({ id }) => id}
        empty={
          <Text c="dimmed" px="lg" pb="lg">
            No open invitations.
          </Text>
        }
      />
    </Panel>
  );
}

const columns: readonly Column<Invitation>[] = [
  {
    title: 'E-mail',
    value: ({ email }) => email,
    phone: 'title',
    render: ({ email }) => <CutText fw={500} text={email} />,
  },
  { title: 'Role', value: ({ role }) => role, render: ({ role }) => roleTitle(role) },
  {
    title: 'Invited by',
    value: ({ invited_by: name }) => name,
    render: ({ invited_by: name }) => name ?? 'The operator',
  },
  { title: 'Expires', kind: 'ago', value: ({ expires_at: at }) => at },
  {
    title: '',
    width: 110,
    render: (invitation) => <WithdrawButton invitation={invitation} />,
  },
];

function WithdrawButton({ invitation: { id, email } }: { readonly invitation: Invitation }) {
  const below = useAccountInSight() ? '/operator' : '';
  const path = `${below}/accounts/:account/invitations` as const;
  const withdraw = useChange(`DELETE ${path}/:invitation`, {
    invalidates: [`GET ${path}`, 'GET /operator/audit-log'],
  });
  const ask = () =>
    confirm({
      title: 'Withdraw invitation?',
      text: `The link for ${email} stops working.`,
      action: 'Withdraw',
      danger: true,
      run: () => withdraw.mutateAsync({ params: { invitation: id } }),
      done: 'Invitation withdrawn.',
    });
  return (
    <Button variant="subtle" color="red" size="compact-sm" onClick={ask}>
      Withdraw<VisuallyHidden> the invitation of {email}</VisuallyHidden>
    </Button>
  );
}
