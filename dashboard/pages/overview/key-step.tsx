import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconKey } from '@tabler/icons-react';
import { useIsAtLeast, type Mode } from '../../app/account.ts';
import { useChange } from '../../api/use-api.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { AppLink } from '../../parts/link.tsx';
import type { MadeKey } from './first-run.tsx';

type Props = {
  readonly mode: Mode;
  readonly made: MadeKey | null;
  /** A key that can be used; null: there is none; undefined: not known yet. */
  readonly existing: MadeKey['key'] | null | undefined;
  readonly onMade: (key: MadeKey) => void;
};

/** A key with one click; its text is shown this once. */
export function KeyStep({ mode, made, existing, onMade }: Props) {
  const canMake = useIsAtLeast('admin');
  const create = useChange('POST /accounts/:account/keys', {
    invalidates: ['GET /accounts/:account/keys'],
    onSuccess: onMade,
  });
  if (made) {
    return (
      <Stack gap="sm">
        <CodeBlock code={made.secret} label="Your new key" />
        <Alert color="orange" variant="light" py="xs" icon={<IconAlertTriangle size={18} aria-hidden />}>
          Copy it now: it is shown only this once.
        </Alert>
      </Stack>
    );
  }
  if (existing === undefined) return <Skeleton h={36} maw={320} />;
  if (!canMake && !existing) return <Text c="dimmed">An admin or owner of the account can make one.</Text>;
  return (
    <Stack gap="sm">
      {existing && (
        <Text>
          There is one already: {existing.name} (<code>{existing.hint}</code>). Its text was shown when it was made;{' '}
          <AppLink to="/keys">all keys</AppLink>.
        </Text>
      )}
      {canMake && (
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
