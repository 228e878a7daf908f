// The user in whose budget a key counts. Owners of the account can give the key to another.
import { Select, Text } from '@mantine/core';
import { useIsAtLeast } from '../../api/account.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { showError, showSuccess } from '../../parts/notify.ts';
import type { Key } from './key-values.ts';

export function KeyOwner({ row }: { readonly row: Key }) {
  const isOwner = useIsAtLeast('owner');
  if (isOwner && row.state !== 'revoked') return <OwnerSelect row={row} />;
  return (
    <Text size="sm" c="dimmed">
      {row.owner === null ? 'Belongs to nobody' : `Belongs to ${row.owner.name}`}
    </Text>
  );
}

function OwnerSelect({ row }: { readonly row: Key }) {
  const members = useApi('GET /accounts/:account/members', {});
  const assign = useChange('PATCH /accounts/:account/keys/:key/owner', {
    invalidates: [
      'GET /accounts/:account/keys',
      'GET /accounts/:account/keys/:key',
      'GET /accounts/:account/budgets',
    ],
  });
  const choices = (members.data?.data ?? []).map(({ user_id: value, name, email }) => ({
    value,
    label: `${name} (${email})`,
  }));
  const { owner } = row;
  const isGone = owner !== null && !choices.some(({ value }) => value === owner.user_id);
  const give = async (userId: string | null) => {
    try {
      await assign.mutateAsync({ params: { key: row.id }, body: { user_id: userId } });
      showSuccess(userId === null ? 'The key belongs to nobody now.' : 'The key has a new owner.');
    } catch (thrown) {
      showError(thrown);
    }
  };
  return (
    <Select
      label="Belongs to"
      description="What the key spends counts in this member’s budget."
      placeholder="Nobody"
      data={isGone ? [...choices, { value: owner.user_id, label: owner.name }] : choices}
      value={owner?.user_id ?? null}
      clearable
      clearButtonProps={{ 'aria-label': 'Give the key to nobody' }}
      disabled={members.isPending || assign.isPending}
      onChange={(userId) => void give(userId)}
    />
  );
}
