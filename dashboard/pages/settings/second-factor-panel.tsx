// The second factor: on with an authenticator app, off again, new backup codes.
import { Alert, Badge, Button, Group, Modal, PasswordInput, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showDone } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { QrCode } from './qr-code.tsx';

type Open = 'start' | 'disable' | 'codes' | null;

export function SecondFactorPanel() {
  const profile = useApi('GET /profile', {});
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  return (
    <Panel title="Second factor" description="A code of your authenticator app, asked for after the password.">
      <QueryView query={profile}>
        {({ has_password: hasPassword, second_factor: factor }) => (
          <Stack align="flex-start">
            <Group gap="sm">
              <Badge variant="light" color={factor.enabled ? 'green' : 'gray'}>
                {factor.enabled ? 'On' : 'Off'}
              </Badge>
              {factor.enabled && <Text c="dimmed">{`${factor.backup_codes_left} backup codes left`}</Text>}
            </Group>
            {!hasPassword && <Text>Your provider asks for its own second factor, if you have one there.</Text>}
            <Group gap="sm">
              {factor.enabled ? (
                <>
                  <Button variant="default" onClick={() => setOpen('codes')}>
                    New backup codes
                  </Button>
                  <Button variant="subtle" color="red" onClick={() => setOpen('disable')}>
                    Turn off
                  </Button>
                </>
              ) : (
                hasPassword && <Button onClick={() => setOpen('start')}>Set up</Button>
              )}
            </Group>
          </Stack>
        )}
      </QueryView>
      <Modal opened={open === 'start'} onClose={close} title="Set up the second factor" closeOnClickOutside={false}>
        <Setup onClose={close} />
      </Modal>
      <Modal opened={open === 'disable'} onClose={close} title="Turn off the second factor">
        <TurnOff onClose={close} />
      </Modal>
      <Modal opened={open === 'codes'} onClose={close} title="New backup codes" closeOnClickOutside={false}>
        <NewCodes onClose={close} />
      </Modal>
    </Panel>
  );
}

type Closing = { readonly onClose: () => void };

/** Password, then the app, then the backup codes. */
function Setup({ onClose }: Closing) {
  const [started, setStarted] = useState<Output<'POST /profile/second-factor'> | null>(null);
  const [isConfirmed, setConfirmed] = useState(false);
  const start = useChange('POST /profile/second-factor', { onSuccess: setStarted });
  if (!started) {
    return <PasswordStep action="Continue" onClose={onClose} send={(body) => start.mutateAsync({ body })} />;
  }
  if (isConfirmed) return <BackupCodes codes={started.backup_codes} onClose={onClose} />;
  return <Confirm started={started} onConfirmed={() => setConfirmed(true)} />;
}

type ConfirmProps = { readonly started: Output<'POST /profile/second-factor'>; readonly onConfirmed: () => void };

function Confirm({ started, onConfirmed }: ConfirmProps) {
  const confirm = useChange('POST /profile/second-factor/confirm', {
    invalidates: ['GET /profile', 'GET /session', 'GET /profile/sessions'],
    onSuccess: onConfirmed,
  });
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (code) => (/^\d{6}$/.test(code.replaceAll(' ', '')) ? null : 'Enter the six digits.') },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    ({ code }) => confirm.mutateAsync({ body: { code: code.replaceAll(' ', '') } }),
    { code: 'code' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <Text>Scan this with your authenticator app, then enter the code that it shows.</Text>
        <Group justify="center">
          <QrCode text={started.uri} label="QR code of the secret" />
        </Group>
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            Or type in:{' '}
            <Text span ff="monospace" inherit>
              {started.secret}
            </Text>
          </Text>
          <CopyButton text={started.secret} label="Copy the secret" />
        </Group>
        <TextInput
          label="Code"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={7}
          data-autofocus
          {...form.getInputProps('code')}
        />
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isSubmitting}>
            Turn on
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function NewCodes({ onClose }: Closing) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const renew = useChange('POST /profile/second-factor/backup-codes', {
    invalidates: ['GET /profile'],
    onSuccess: ({ backup_codes: fresh }) => setCodes(fresh),
  });
  if (codes) return <BackupCodes codes={codes} onClose={onClose} />;
  return (
    <PasswordStep
      text="The codes that you have now stop working."
      action="Make new codes"
      onClose={onClose}
      send={(body) => renew.mutateAsync({ body })}
    />
  );
}

function TurnOff({ onClose }: Closing) {
  const disable = useChange('POST /profile/second-factor/disable', {
    invalidates: ['GET /profile', 'GET /session', 'GET /profile/sessions'],
    onSuccess: () => {
      showDone('The second factor is off.');
      onClose();
    },
  });
  return (
    <PasswordStep
      text="From then on your password alone signs you in."
      action="Turn off"
      danger
      onClose={onClose}
      send={(body) => disable.mutateAsync({ body })}
    />
  );
}

function BackupCodes({ codes, onClose }: Closing & { readonly codes: readonly string[] }) {
  return (
    <Stack>
      <Alert color="orange" variant="light">
        Keep these codes where you will find them without your phone. Each signs you in once; they are shown only now.
      </Alert>
      <SimpleGrid cols={2} spacing="xs">
        {codes.map((code) => (
          <Text key={code} ff="monospace" ta="center">
            {code}
          </Text>
        ))}
      </SimpleGrid>
      <Group justify="flex-end">
        <CopyButton text={codes.join('\n')} label="Copy the codes" wide />
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

type PasswordStepProps = Closing & {
  readonly text?: string;
  readonly action: string;
  readonly danger?: boolean;
  readonly send: (body: { readonly password: string }) => Promise<unknown>;
};

function PasswordStep({ text, action, danger = false, send, onClose }: PasswordStepProps) {
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: (password) => (password === '' ? 'Enter your password.' : null) },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(form, send, { password: 'password' });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        {text !== undefined && <Text>{text}</Text>}
        <PasswordInput label="Your password" autoComplete="current-password" data-autofocus {...form.getInputProps('password')} />
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color={danger ? 'red' : undefined} loading={isSubmitting}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
