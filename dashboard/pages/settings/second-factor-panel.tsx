// Two-factor authentication: set up, turn off, new backup codes.
import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { showSuccess } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { BackupCodesDialog } from './backup-codes-dialog.tsx';
import { ConfirmationForm } from '../../parts/password-forms.tsx';
import { SecondFactorSetup } from './second-factor-setup.tsx';

type Dialog = 'set-up' | 'turn-off' | 'new-codes';

export function SecondFactorPanel() {
  const profile = useApi('GET /profile', {});
  const [open, setOpen] = useState<Dialog | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const close = () => setOpen(null);
  const showCodes = (created: readonly string[]) => {
    close();
    setCodes(created);
  };
  return (
    <Panel
      title="Two-factor authentication"
      description="A code from an authenticator app, required after your password."
    >
      <QueryView query={profile}>{(data) => <Status profile={data} onOpen={setOpen} />}</QueryView>
      <Modal
        opened={open === 'set-up'}
        onClose={close}
        title="Set up two-factor authentication"
        closeOnClickOutside={false}
      >
        <SecondFactorSetup onClose={close} onDone={showCodes} />
      </Modal>
      <Modal
        opened={open === 'turn-off'}
        onClose={close}
        title="Turn off two-factor authentication"
      >
        <TurnOff onClose={close} />
      </Modal>
      <Modal opened={open === 'new-codes'} onClose={close} title="New backup codes">
        <NewCodes onClose={close} onDone={showCodes} />
      </Modal>
      <BackupCodesDialog codes={codes} onClose={() => setCodes(null)} />
    </Panel>
  );
}

type StatusProps = {
  readonly profile: Output<'GET /profile'>;
  readonly onOpen: (dialog: Dialog) => void;
};

function Status({
  profile: { has_password: hasPassword, second_factor: factor },
  onOpen,
}: StatusProps) {
  if (!factor.enabled) {
    return (
      <Stack align="flex-start">
        <Badge color="gray">Off</Badge>
        {hasPassword ? (
          <Button onClick={() => onOpen('set-up')}>Set up</Button>
        ) : (
          <Text>You sign in through a provider. Set up two-factor authentication there.</Text>
        )}
      </Stack>
    );
  }
  const left = factor.backup_codes_left;
  return (
    <Stack align="flex-start">
      <Group gap="sm">
        <Badge color="green">On</Badge>
        <Text c={left <= 2 ? 'var(--mantine-color-orange-light-color)' : 'dimmed'}>
          {left === 1 ? '1 backup code left' : `${left} backup codes left`}
          {left <= 2 && '. Create new ones.'}
        </Text>
      </Group>
      {hasPassword && (
        <Group gap="sm">
          <Button variant="default" onClick={() => onOpen('new-codes')}>
            New backup codes
          </Button>
          <Button variant="subtle" color="red" onClick={() => onOpen('turn-off')}>
            Turn off
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function NewCodes({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: (codes: readonly string[]) => void;
}) {
  const renew = useChange('POST /profile/second-factor/backup-codes', {
    invalidates: ['GET /profile'],
    onSuccess: ({ backup_codes: codes }) => onDone(codes),
  });
  return (
    <ConfirmationForm
      hasSecondFactor
      text="Your current codes stop working."
      action="Create new codes"
      onClose={onClose}
      send={({ password, code = '' }) => renew.mutateAsync({ body: { password, code } })}
    />
  );
}

function TurnOff({ onClose }: { readonly onClose: () => void }) {
  const disable = useChange('POST /profile/second-factor/disable', {
    invalidates: [
      'GET /profile',
      'GET /session',
      'GET /profile/sessions',
      'GET /accounts/:account/members',
    ],
    onSuccess: () => {
      showSuccess('Two-factor authentication is off.');
      onClose();
    },
  });
  return (
    <ConfirmationForm
      hasSecondFactor
      text="You will sign in with your password alone. Your backup codes stop working."
      action="Turn off"
      danger
      onClose={onClose}
      send={({ password, code = '' }) => disable.mutateAsync({ body: { password, code } })}
    />
  );
}
