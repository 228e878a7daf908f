// The account's members and their roles.
import { Badge, Button, Group, Select, Stack, Text, VisuallyHidden } from '@mantine/core';
import { IconUserPlus, IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import { useAccount, useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useUser } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { CutText } from '../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { showSuccess, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { roleTitle, type Role } from '../../parts/role-title.ts';
import { BudgetCell } from './budget-cell.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { isLastOwner, isRole, roleOptions, roleTexts } from './roles.ts';

type Member = Output<'GET /accounts/:account/members'>['data'][number];

export function MembersPanel() {
  const canInvite = useIsAtLeast('admin');
  const [isInviting, setInviting] = useState(false);
  return (
    <Panel
      title="Members"
      description="Viewers see everything. Members also use the playground. Admins also manage keys and invitations. Owners also pay and manage members."
      actions={
        canInvite && (
          <Button
            leftSection={<IconUserPlus size={16} aria-hidden />}
            onClick={() => setInviting(true)}
          >
            Invite
          </Button>
        )
      }
      flush
    >
      <Members />
      <InviteDialog opened={isInviting} onClose={() => setInviting(false)} />
    </Panel>
  );
}

function Members() {
  const members = useApi('GET /accounts/:account/members', {});
  const budgets = useApi('GET /accounts/:account/budgets', {});
  const budgetsByUser = new Map(budgets.data?.data.map((budget) => [budget.user_id, budget]));
  const isOwner = useIsAtLeast('owner');
  const user = useUser();
  const all = members.data?.data ?? [];
  const columns: readonly Column<Member>[] = [
    {
      title: 'Name',
      value: ({ name }) => name,
      phone: 'title',
      render: (member) => <MemberName member={member} isSelf={member.user_id === user.id} />,
    },
    {
      title: 'Role',
      value: ({ role }) => role,
      render: (member) =>
        isOwner && !isLastOwner(all, member) ? (
          <RoleSelect member={member} isSelf={member.user_id === user.id} />
        ) : (
          <Text inherit>{roleTitle(member.role)}</Text>
        ),
    },
    {
      title: 'Two-factor',
      value: ({ second_factor: isOn }) => isOn,
      render: ({ second_factor: isOn }) => (
        <Badge color={isOn ? 'green' : 'gray'}>{isOn ? 'On' : 'Off'}</Badge>
      ),
    },
    {
      title: 'Budget',
      render: (member) => <BudgetCell member={member} budget={budgetsByUser.get(member.user_id)} />,
    },
    { title: 'Joined', kind: 'ago', value: ({ joined_at: at }) => at },
    {
      title: '',
      width: 110,
      render: (member) => {
        if (isLastOwner(all, member)) return null;
        if (member.user_id === user.id) return <LeaveButton />;
        return isOwner && <RemoveButton member={member} />;
      },
    },
  ];
  return (
    <DataTable
      label="Members"
      search="Search members"
      columns={columns}
      rows={members.data?.data}
      error={members.error}
      onRetry={() => void members.refetch()}
      rowKey={({ user_id: id }) => id}
      empty={
        <EmptyState
          icon={IconUsers}
          title="No members"
          text="Nobody has joined this account yet."
        />
      }
    />
  );
}

function MemberName({
  member: { name, email },
  isSelf,
}: {
  readonly member: Member;
  readonly isSelf: boolean;
}) {
  return (
    <Stack gap={0}>
      <Group gap="xs">
        <CutText fw={500} text={name} />
        {isSelf && <Badge color="accent">You</Badge>}
      </Group>
      <CutText block size="sm" c="dimmed" fw={400} text={email} />
    </Stack>
  );
}

function RoleSelect({ member, isSelf }: { readonly member: Member; readonly isSelf: boolean }) {
  const change = useChange('PATCH /accounts/:account/members/:user', {
    invalidates: ['GET /accounts/:account/members', 'GET /session'],
  });
  const set = async (role: Role) => {
    await change.mutateAsync({ params: { user: member.user_id }, body: { role } });
    showSuccess(
      isSelf ? `You are now ${withArticle(role)}.` : `${member.name} is now ${withArticle(role)}.`,
    );
  };
  const choose = (role: Role) => {
    if (role === member.role) return;
    // Ask before a change that the user cannot undo alone: a new owner could remove the user who
    // made them one.
    if (!isSelf && role !== 'owner') {
      set(role).catch(showError);
      return;
    }
    confirm({
      title: isSelf ? 'Give up the owner role?' : `Make ${member.name} an owner?`,
      text: isSelf
        ? 'Only another owner can make you an owner again.'
        : `Owners can pay, rename the account and manage its members. ${member.name} could also remove you.`,
      action: isSelf ? `Become ${withArticle(role)}` : 'Make owner',
      danger: isSelf,
      run: () => set(role),
    });
  };
  return (
    <Select
      aria-label={`Role of ${member.name}`}
      data={roleOptions('owner')}
      value={member.role}
      allowDeselect={false}
      disabled={change.isPending}
      onChange={(value) => isRole(value) && choose(value)}
      renderOption={({ option: { value, label } }) => (
        <div>
          <Text inherit>{label}</Text>
          {isRole(value) && (
            <Text size="xs" c="dimmed">
              {roleTexts[value]}
            </Text>
          )}
        </div>
      )}
      comboboxProps={{ width: 260, position: 'bottom-start' }}
      w={130}
    />
  );
}

function withArticle(role: Role): string {
  return `${role === 'viewer' || role === 'member' ? 'a' : 'an'} ${role}`;
}

function RemoveButton({ member }: { readonly member: Member }) {
  const { name: accountName } = useAccount();
  const remove = useChange('DELETE /accounts/:account/members/:user', {
    invalidates: ['GET /accounts/:account/members'],
  });
  const ask = () =>
    confirm({
      title: `Remove ${member.name}?`,
      text: `${member.email} loses access to ${accountName} immediately. Keys that ${member.name} created keep working, within the budget if there is one.`,
      action: 'Remove',
      danger: true,
      run: () => remove.mutateAsync({ params: { user: member.user_id } }),
      done: `${member.name} removed.`,
    });
  return (
    <Button variant="subtle" color="red" size="compact-sm" onClick={ask}>
      Remove<VisuallyHidden> {member.name}</VisuallyHidden>
    </Button>
  );
}

function LeaveButton() {
  const { name: accountName } = useAccount();
  const leave = useChange('POST /accounts/:account/leave', {
    // Loading the page afresh removes the account's data from memory.
    onSuccess: () => location.assign('/'),
  });
  const ask = () =>
    confirm({
      title: `Leave ${accountName}?`,
      text: 'You lose access until someone invites you again. Keys that you created keep working.',
      action: 'Leave',
      danger: true,
      run: () => leave.mutateAsync({}),
    });
  return (
    <Button variant="subtle" color="red" size="compact-sm" onClick={ask}>
      Leave
    </Button>
  );
}
