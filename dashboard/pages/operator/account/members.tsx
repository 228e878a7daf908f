// The account's members, its open invitations, and a form to invite more.
import { Alert, Badge, Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { useApi, useChange } from '../../../api/use-api.ts';
import { CodeBlock } from '../../../parts/code-block.tsx';
import { CutText } from '../../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { Invitations } from '../../../parts/invitations.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { roleTitle, type Role } from '../../../parts/role-title.ts';
import { useFormSubmit } from '../../../parts/use-form-submit.ts';
import { ResetLinkButton } from '../reset-link-button.tsx';

type Member = Output<'GET /accounts/:account/members'>['data'][number];

/** Members and invitations of the account that the operator looks at. */
export function Members() {
  const members = useApi('GET /accounts/:account/members', {});
  return (
    <Stack>
      <Panel title="Members" flush>
        <DataTable
          label="Members"
          search="Search members"
          rows={members.data?.data}
          error={members.error}
          onRetry={() => void members.refetch()}
          columns={columns}
          rowKey={(member) => member.user_id}
          empty={
            <EmptyState
              icon={IconUsers}
              title="No members yet"
              text="Invite the first owner below."
            />
          }
        />
      </Panel>
      <Invitations />
      <Invite />
    </Stack>
  );
}

const columns: readonly Column<Member>[] = [
  {
    title: 'Member',
    value: (member) => member.name,
    phone: 'title',
    render: (member) => (
      <>
        <CutText block fw={500} text={member.name} />
        <CutText block size="xs" c="dimmed" text={member.email} />
      </>
    ),
  },
  {
    title: 'Role',
    value: (member) => member.role,
    render: (member) => <Badge color="gray">{roleTitle(member.role)}</Badge>,
  },
  {
    title: 'Two-factor',
    value: (member) => member.second_factor,
    render: (member) => (member.second_factor ? 'On' : 'Off'),
  },
  { title: 'Joined', kind: 'ago', value: (member) => member.joined_at },
  {
    title: '',
    render: (member) => <ResetLinkButton userId={member.user_id} email={member.email} />,
  },
];

const roles: readonly Role[] = ['owner', 'admin', 'member', 'viewer'];

function Invite() {
  const [invitation, setInvitation] = useState<
    (Output<'POST /operator/accounts/:account/invitations'> & { readonly email: string }) | null
  >(null);
  const open = useApi('GET /accounts/:account/invitations', {});
  // The link of an invitation that was withdrawn or accepted no longer works.
  const isOpen = open.data?.data.some(({ id }) => id === invitation?.id);
  const invite = useChange('POST /operator/accounts/:account/invitations', {
    invalidates: ['GET /operator/accounts/:account/invitations', 'GET /operator/audit-log'],
  });
  const form = useForm<{ email: string; role: Role }>({
    initialValues: { email: '', role: 'owner' },
    validate: {
      email: (text) => (/^\S+@\S+\.\S+$/.test(text.trim()) ? null : 'Enter an e-mail address.'),
    },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async ({ email, role }) => {
      const body = { email: email.trim(), role };
      const made = await invite.mutateAsync({ body });
      setInvitation({ ...made, email: body.email });
      form.reset();
    },
    { email: 'email' },
  );
  return (
    <Panel title="Invite">
      <form onSubmit={onSubmit} noValidate>
        <Stack gap="sm">
          <Group align="flex-end" gap="sm">
            <TextInput
              label="E-mail address"
              type="email"
              style={{ flex: '1 1 220px' }}
              maw={360}
              {...form.getInputProps('email')}
            />
            <Select
              label="Role"
              data={roles.map((value) => ({ value, label: roleTitle(value) }))}
              allowDeselect={false}
              w={130}
              {...form.getInputProps('role')}
            />
            <Button type="submit" variant="default" loading={isSubmitting}>
              Invite
            </Button>
          </Group>
          {error && <ErrorNotice error={error} />}
          {invitation && isOpen && (
            <Alert
              color="green"
              title={
                invitation.mailed
                  ? `Invitation sent to ${invitation.email}`
                  : `Send this link to ${invitation.email}`
              }
            >
              <CodeBlock code={invitation.link} label="Invitation link" />
            </Alert>
          )}
        </Stack>
      </form>
    </Panel>
  );
}
