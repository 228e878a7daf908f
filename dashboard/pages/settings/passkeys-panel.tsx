// The user's passkeys: add, remove.
import { Badge, Button, Group, Modal, Text, VisuallyHidden } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { CutText } from '../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { showSuccess } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { passkeyObstacle } from '../../parts/passkeys.ts';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { PasskeySetup } from './passkey-setup.tsx';
import { ConfirmationForm } from '../../parts/password-forms.tsx';

type Passkey = Output<'GET /profile/passkeys'>['data'][number];
type Dialog = { readonly kind: 'add' } | { readonly kind: 'remove'; readonly passkey: Passkey };

export function PasskeysPanel() {
  const { features } = useSession();
  const profile = useApi('GET /profile', {});
  const passkeys = useApi('GET /profile/passkeys', {});
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = () => setDialog(null);
  const obstacle =
    profile.data?.has_password === false
      ? 'You sign in through a provider. Set up passkeys there.'
      : passkeyObstacle(features);
  const hasSecondFactor = profile.data?.second_factor.enabled ?? false;
  return (
    <Panel
      title="Passkeys"
      description="Sign in with your fingerprint, face or screen lock instead of password and code."
      actions={
        obstacle === null &&
        profile.data && (
          <Button variant="default" onClick={() => setDialog({ kind: 'add' })}>
            Add a passkey
          </Button>
        )
      }
      flush
    >
      <DataTable
        label="Passkeys"
        columns={columnsFor(setDialog)}
        rows={passkeys.data?.data}
        error={passkeys.error}
        onRetry={() => void passkeys.refetch()}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={IconFingerprint} title="No passkeys" text={obstacle ?? undefined} />
        }
      />
      {obstacle !== null && passkeys.data?.data.length !== 0 && (
        <Text c="dimmed" p="md">
          {obstacle}
        </Text>
      )}
      <Modal opened={dialog?.kind === 'add'} onClose={close} title="Add a passkey">
        <PasskeySetup hasSecondFactor={hasSecondFactor} onClose={close} />
      </Modal>
      <Modal
        opened={dialog?.kind === 'remove'}
        onClose={close}
        title={dialog?.kind === 'remove' && `Remove the passkey “${dialog.passkey.name}”?`}
      >
        {dialog?.kind === 'remove' && (
          <Remove passkey={dialog.passkey} hasSecondFactor={hasSecondFactor} onClose={close} />
        )}
      </Modal>
    </Panel>
  );
}

function columnsFor(open: (dialog: Dialog) => void): readonly Column<Passkey>[] {
  return [
    {
      title: 'Name',
      value: ({ name }) => name,
      phone: 'title',
      render: ({ name, host, works_here: worksHere }) => (
        <Group gap="xs">
          <CutText fw={500} text={name} />
          {!worksHere && <Badge color="gray">Only at {host}</Badge>}
        </Group>
      ),
    },
    { title: 'Created', kind: 'ago', value: ({ created_at: at }) => at },
    {
      title: 'Last used',
      kind: 'ago',
      value: ({ last_used_at: at }) => at,
      render: ({ last_used_at: at }) => (at === null ? 'Never' : <TimeAgo at={at} />),
    },
    {
      title: '',
      width: 190,
      render: (passkey) => (
        <Group gap={4} justify="flex-end">
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            onClick={() => open({ kind: 'remove', passkey })}
          >
            Remove<VisuallyHidden> {passkey.name}</VisuallyHidden>
          </Button>
        </Group>
      ),
    },
  ];
}

type DialogProps = { readonly passkey: Passkey; readonly onClose: () => void };

function Remove({
  passkey,
  hasSecondFactor,
  onClose,
}: DialogProps & { readonly hasSecondFactor: boolean }) {
  const remove = useChange('POST /profile/passkeys/:passkey/remove', {
    invalidates: ['GET /profile/passkeys'],
    onSuccess: () => {
      showSuccess('Passkey removed.');
      onClose();
    },
  });
  return (
    <ConfirmationForm
      text="It no longer signs you in. Also delete it on your device or in your password manager."
      action="Remove"
      danger
      hasSecondFactor={hasSecondFactor}
      onClose={onClose}
      send={(body) => remove.mutateAsync({ params: { passkey: passkey.id }, body })}
    />
  );
}
