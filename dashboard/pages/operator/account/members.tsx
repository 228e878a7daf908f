// Who belongs to the account, and letting further people in.
import { Alert, Badge, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import type { Output } from '../../../api/client.ts';
import { useApi, useChange } from '../../../api/use-api.ts';
import { CodeBlock } from '../../../parts/code-block.tsx';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showFieldError } from '../../../parts/form-errors.ts';
import { Panel } from '../../../parts/panel.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import { ResetLinkButton } from '../reset-link-button.tsx';
import type { Account } from './page.tsx';

type Member = Output<'GET /operator/accounts/:account/members'>['data'][number];

export function Members({ account }: { readonly account: Account }) {
  const members = useApi('GET /operator/accounts/:account/members', { params: { account: account.id } });
  return (
    <Stack>
      <Panel title="Members" flush>
        <DataTable
          label="Members"
          rows={members.data?.data}
          error={members.error}
          onRetry={() => void members.refetch()}
          columns={columns}
          rowKey={(member) => member.user_id}
          empty={<EmptyState icon={IconUsers} title="Nobody belongs to it yet" text="Invite its first owner below." />}
        />
      </Panel>
      <Invite account={account} />
    </Stack>
  );
}

const columns: readonly Column<Member>[] = [
  {
    title: 'Member',
    phone: 'title',
    render: (member) => (
      <>
        <Text fw={500}>{member.name}</Text>
        <Text size="xs" c="dimmed">
          {member.email}
        </Text>
      </>
    ),
  },
  { title: 'Role', render: (member) => <Badge color="gray">{member.role}</Badge> },
  { title: 'Second factor', render: (member) => (member.second_factor ? 'On' : 'Off') },
  { title: 'Joined', render: (member) => <TimeAgo at={member.joined_at} /> },
  { title: '', align: 'right', render: (member) => <ResetLinkButton userId={member.user_id} email={member.email} /> },
];

type Role = Member['role'];

function Invite({ account }: { readonly account: Account }) {
  const [error, setError] = useState<ApiError | null>(null);
  const [made, setMade] = useState<{ readonly email: string; readonly link: string; readonly mailed: boolean } | null>(null);
  const invite = useChange('POST /operator/accounts/:account/invitations', { invalidates: ['GET /operator/audit-log'] });
  const form = useForm<{ email: string; role: Role }>({
    initialValues: { email: '', role: 'owner' },
    validate: { email: (text) => (/^\S+@\S+\.\S+$/.test(text.trim()) ? null : 'An e-mail address.') },
  });
  const submit = async ({ email, role }: { readonly email: string; readonly role: Role }) => {
    setError(null);
    try {
      const { link, mailed } = await invite.mutateAsync({ params: { account: account.id }, body: { email: email.trim(), role } });
      setMade({ email: email.trim(), link, mailed });
      form.reset();
    } catch (thrown) {
      setError(showFieldError(form, thrown, { email: 'email' }));
    }
  };
  return (
    <Panel title="Invite">
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <Group align="flex-end" gap="sm">
            <TextInput
              label="E-mail address"
              type="email"
              autoComplete="off"
              style={{ flex: '1 1 220px' }}
              maw={360}
              {...form.getInputProps('email')}
            />
            <Select
              label="Role"
              data={['owner', 'admin', 'member']}
              allowDeselect={false}
              w={130}
              {...form.getInputProps('role')}
            />
            <Button type="submit" variant="default" loading={invite.isPending}>
              Invite
            </Button>
          </Group>
          {error && <ErrorNotice error={error} />}
          {made && (
            <Alert
              color="green"
              title={made.mailed ? `The invitation was sent to ${made.email}` : `Give this link to ${made.email}`}
            >
              <CodeBlock code={made.link} label="Invitation link" />
            </Alert>
          )}
        </Stack>
      </form>
    </Panel>
  );
}
