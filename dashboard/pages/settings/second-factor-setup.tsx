// Sets up two-factor authentication: asks for the password, shows the secret, then checks a code.
import { Center, Group, Input, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { ConfirmationForm } from '../../parts/password-forms.tsx';
import { QrCode } from './qr-code.tsx';
import { checkCode, codeOf, inGroups } from '../../parts/second-factor-codes.ts';

type Started = Output<'POST /profile/second-factor'>;
type Props = {
  readonly onClose: () => void;
  /** Receives the backup codes. */
  readonly onDone: (codes: readonly string[]) => void;
};

export function SecondFactorSetup({ onClose, onDone }: Props) {
  const [started, setStarted] = useState<Started | null>(null);
  const start = useChange('POST /profile/second-factor', { onSuccess: setStarted });
  if (started)
    return (
      <Confirm
        started={started}
        onClose={onClose}
        onConfirmed={() => onDone(started.backup_codes)}
      />
    );
  return (
    <ConfirmationForm
      hasSecondFactor={false}
      text="You need an authenticator app, or a password manager that generates codes."
      action="Continue"
      onClose={onClose}
      send={(body) => start.mutateAsync({ body })}
    />
  );
}

type ConfirmProps = {
  readonly started: Started;
  readonly onClose: () => void;
  readonly onConfirmed: () => void;
};

function Confirm({ started, onClose, onConfirmed }: ConfirmProps) {
  const confirm = useChange('POST /profile/second-factor/confirm', {
    invalidates: [
      'GET /profile',
      'GET /session',
      'GET /profile/sessions',
      'GET /accounts/:account/members',
    ],
    onSuccess: onConfirmed,
  });
  const form = useForm({ initialValues: { code: '' }, validate: { code: checkCode } });
  const sending = useFormSubmit(
    form,
    ({ code }) => confirm.mutateAsync({ body: { code: codeOf(code) } }),
    { code: 'code' },
  );
  return (
    <SubmitForm sending={sending} submit="Turn on" onClose={onClose}>
      <Text>Scan this with your app, then enter the code it shows.</Text>
      <Center>
        <QrCode text={started.uri} label="QR code of the secret" />
      </Center>
      <Input.Wrapper label="Or enter this secret" labelElement="div">
        <Group gap="xs" wrap="nowrap">
          <Text ff="monospace" size="sm">
            {inGroups(started.secret)}
          </Text>
          <CopyButton text={started.secret} label="Copy secret" />
        </Group>
      </Input.Wrapper>
      <TextInput
        label="Code"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={11}
        autoFocus
        {...form.getInputProps('code')}
      />
    </SubmitForm>
  );
}
