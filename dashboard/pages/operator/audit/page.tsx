// Every change that was made in the dashboard, by a command or by Stripe.
import { Group, Select, Stack } from '@mantine/core';
import { useUrlState } from '../../../app/url-state.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { ActorSelect } from '../actor-select.tsx';
import { AuditTable } from '../audit-table.tsx';

/** What actions begin with. */
const kinds = [
  { value: 'account.', label: 'Accounts' },
  { value: 'key.', label: 'Keys' },
  { value: 'payment.', label: 'Payments' },
  { value: 'top-up.', label: 'Top-ups' },
  { value: 'member.', label: 'Members' },
  { value: 'invitation.', label: 'Invitations' },
  { value: 'user.', label: 'Users' },
  { value: 'session.', label: 'Sessions' },
];

export function Page() {
  const [{ action, subject, of, actor }, setState] = useUrlState(
    ({ action: name, subject: id = '', of: account = '', actor: by }) => ({
      action: kinds.find(({ value }) => value === name)?.value ?? null,
      subject: id,
      of: account,
      actor: by,
    }),
  );
  const known = (text: string) => (text === '' ? undefined : text);
  return (
    <>
      <PageHeader title="Audit log" description="Who changed what, and when. Nothing in it can be changed or taken away." />
      <Stack>
        <Group gap="sm">
          <Select
            aria-label="Kind of change"
            placeholder="All changes"
            data={kinds}
            value={action}
            onChange={(value) => setState({ action: value ?? undefined })}
            clearable
            w={170}
          />
          <ActorSelect value={actor ?? null} onChange={(id) => setState({ actor: id ?? undefined })} />
          <SearchField
            label="Account id"
            value={of}
            onSearch={(text) => setState({ of: text.trim() })}
            style={{ flex: '1 1 200px' }}
            maw={320}
          />
          <SearchField
            label="Id of what was changed"
            value={subject}
            onSearch={(text) => setState({ subject: text.trim() })}
            style={{ flex: '1 1 200px' }}
            maw={320}
          />
        </Group>
        <AuditTable filters={{ action: action ?? undefined, actor, account: known(of), subject: known(subject) }} />
      </Stack>
    </>
  );
}
