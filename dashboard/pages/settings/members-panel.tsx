// Who belongs to the account, and who is invited.
import { Badge, Button, Select, Stack, Text } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccount, useIsAtLeast } from '../../app/account.ts';
import type { Output } from '../../api/client.ts';
import { sessionQuery, useUser } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { showDone, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { roleOptions, roleTitle } from './roles.ts';

type Member = Output<'GET /accounts/:account/members'>['data'][number];
type Invitation = Output<'GET /accounts/:account/invitations'>['data'][number];

export function MembersPanel() {
  const isAdmin = useIsAtLeast('admin');
  const [isInviting, setInviting] = useState(false);
  return (
    <>
      <Panel
        title="Members"
        description="Members see everything and use the playground. Admins also manage keys and invite. Owners also pay and manage members."
        actions={isAdmin && <Button onClick={() => setInviting(true)}>Invite</Button>}
        flush
      >
        <Members />
      </Panel>
      {isAdmin && <Invitations />}
      <InviteDialog opened={isInviting} onClose={() => setInviting(false)} />
    </>
  );
}

function Members() {
  const members = useApi('GET /accounts/:account/members', {});
  const isOwner = useIsAtLeast('owner');
  const user = useUser();
  const setRole = useChange('PATCH /accounts/:account/members/:user', {
    invalidates: ['GET /accounts/:account/members', 'GET /session'],
    onSuccess: () => showDone('The role is changed.'),
  });
  const columns: Column<Member>[] = [
    {
      title: 'Name',
      phone: 'title',
      render: ({ name, email, user_id: id }) => (
        <Stack gap={0}>
          <Text inherit fw={500}>
            {name}
            {id === user.id && ' (you)'}
          </Text>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {email}
          </Text>
        </Stack>
      ),
    },
    {
      title: 'Role',
      width: 170,
      render: ({ role, name, user_id: id }) =>
        isOwner ? (
          <Select
            aria-label={`Role of ${name}`}
            data={roleOptions('owner')}
            value={role}
            allowDeselect={false}
            onChange={(value) =>
              value && void setRole.mutateAsync({ params: { user: id }, body: { role: value } }).catch(showError)
            }
          />
        ) : (
          roleTitle(role)
        ),
    },
    {
      title: 'Second factor',
      render: ({ second_factor: isOn }) => (
        <Badge variant="light" color={isOn ? 'green' : 'gray'}>
          {isOn ? 'On' : 'Off'}
        </Badge>
      ),
    },
    { title: 'Joined', render: ({ joined_at: at }) => <TimeAgo at={at} /> },
    {
      title: '',
      align: 'right',
      render: (member) => <LeaveButton member={member} isOwner={isOwner} isSelf={member.user_id === user.id} />,
    },
  ];
  return (
    <DataTable
      label="Members"
      columns={columns}
      rows={members.data?.data}
      error={members.error}
      onRetry={() => void members.refetch()}
      rowKey={({ user_id: id }) => id}
      empty={<EmptyState icon={IconUsers} title="No members" />}
    />
  );
}

type LeaveProps = { readonly member: Member; readonly isOwner: boolean; readonly isSelf: boolean };

function LeaveButton({ member, isOwner, isSelf }: LeaveProps) {
  const { name: accountName } = useAccount();
  const client = useQueryClient();
  const leave = useChange('POST /accounts/:account/leave', {
    onSuccess: () => {
      // Nothing of the account is left to be shown.
      client.clear();
      location.assign('/');
    },
  });
  const remove = useChange('DELETE /accounts/:account/members/:user', {
    invalidates: ['GET /accounts/:account/members'],
    onSuccess: () => void client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  if (!isSelf && !isOwner) return null;
  const ask = () =>
    confirm({
      title: isSelf ? `Leave ${accountName}?` : `Remove ${member.name}?`,
      text: isSelf
        ? 'You see nothing of it any more, until somebody invites you again. Its keys go on working.'
        : `${member.email} sees nothing of ${accountName} any more, at once. Keys that were made by this member go on working.`,
      action: isSelf ? 'Leave' : 'Remove',
      danger: true,
      run: () => (isSelf ? leave.mutateAsync({}) : remove.mutateAsync({ params: { user: member.user_id } })),
    });
  return (
    <Button variant="subtle" color="red" size="compact-sm" onClick={ask}>
      {isSelf ? 'Leave' : 'Remove'}
    </Button>
  );
}

function Invitations() {
  const invitations = useApi('GET /accounts/:account/invitations', {});
  const withdraw = useChange('DELETE /accounts/:account/invitations/:invitation', {
    invalidates: ['GET /accounts/:account/invitations'],
    onSuccess: () => showDone('The invitation is withdrawn.'),
  });
  if (invitations.data?.data.length === 0) return null;
  const columns: Column<Invitation>[] = [
    {
      title: 'E-mail',
      phone: 'title',
      render: ({ email }) => (
        <Text inherit style={{ overflowWrap: 'anywhere' }}>
          {email}
        </Text>
      ),
    },
    { title: 'Role', render: ({ role }) => roleTitle(role) },
    { title: 'Invited by', render: ({ invited_by: name }) => name ?? 'The operator' },
    { title: 'Expires', render: ({ expires_at: at }) => <TimeAgo at={at} /> },
    {
      title: '',
      align: 'right',
      render: ({ id }) => (
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          onClick={() => void withdraw.mutateAsync({ params: { invitation: id } }).catch(showError)}
        >
          Withdraw
        </Button>
      ),
    },
  ];
  return (
    <Panel title="Invitations" flush>
      <DataTable
        label="Invitations"
        columns={columns}
        rows={invitations.data?.data}
        error={invitations.error}
        onRetry={() => void invitations.refetch()}
        rowKey={({ id }) => id}
        empty={null}
      />
    </Panel>
  );
}
