import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useIsAtLeast, type Mode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { AppLink } from '../../parts/link.tsx';
import { NewKeyNotice } from '../../parts/new-key-dialog.tsx';

type CreatedKey = Output<'POST /accounts/:account/keys'>;

type Props = {
  readonly mode: Mode;
  readonly created: CreatedKey | null;
  /** An active key; null when there is none; undefined while loading. */
  readonly existing: CreatedKey['key'] | null | undefined;
  readonly onCreated: (key: CreatedKey) => void;
};

/** Creates a key with one click and shows its secret once. */
export function KeyStep({ mode, created, existing, onCreated }: Props) {
  const canCreate = useIsAtLeast('admin');
  const create = useChange('POST /accounts/:account/keys', {
    invalidates: ['GET /accounts/:account/keys'],
    onSuccess: onCreated,
  });
  if (created) return <NewKeyNotice secret={created.secret} />;
  if (existing === undefined) return <Skeleton h={36} maw={320} />;
  if (!canCreate && !existing)
    return <Text c="dimmed">An admin or owner of the account can create one.</Text>;
  return (
    <Stack gap="sm">
      {existing && (
        <Text>
          You already have a key: {existing.name} (<code>{existing.hint}</code>). Its secret was
          shown only once. <AppLink to="/keys">View all keys</AppLink>
        </Text>
      )}
      {canCreate && (
        <Group>
          <Button
            variant={existing ? 'default' : 'filled'}
            leftSection={<IconKey size={16} aria-hidden />}
            loading={create.isPending}
            onClick={() => create.mutate({ body: { mode, name: `First ${mode} key` } })}
          >
            {existing ? 'Create another' : `Create a ${mode} key`}
          </Button>
        </Group>
      )}
      {create.error && <ErrorNotice error={create.error} />}
    </Stack>
  );
}
