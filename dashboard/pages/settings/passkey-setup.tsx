// Adds a passkey: asks for the password, then the device, which may be asked again.
import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { showSuccess } from '../../parts/notify.ts';
import { createPasskey } from '../../parts/passkeys.ts';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { deviceName } from './device-name.ts';
import { ConfirmationForm } from '../../parts/password-forms.tsx';

type Props = { readonly hasSecondFactor: boolean; readonly onClose: () => void };

export function PasskeySetup({ hasSecondFactor, onClose }: Props) {
  const [options, setOptions] = useState<Output<'POST /profile/passkeys/start'> | null>(null);
  const start = useChange('POST /profile/passkeys/start', { onSuccess: setOptions });
  const add = useChange('POST /profile/passkeys', {
    invalidates: ['GET /profile/passkeys'],
    onSuccess: () => {
      showSuccess('Passkey added.');
      onClose();
    },
  });
  if (options)
    return (
      <PasskeyNameForm
        name={deviceName(navigator.userAgent)}
        onClose={onClose}
        send={async (name) =>
          add.mutateAsync({ body: { name, credential: await createPasskey(options) } })
        }
      />
    );
  return (
    <ConfirmationForm
      text="A passkey is kept on your device or in your password manager. It signs in without your password and code."
      action="Continue"
      hasSecondFactor={hasSecondFactor}
      onClose={onClose}
      send={(body) => start.mutateAsync({ body })}
    />
  );
}

type NameProps = {
  readonly name: string;
  readonly send: (name: string) => Promise<unknown>;
  readonly onClose: () => void;
};

function PasskeyNameForm({ name, send, onClose }: NameProps) {
  const form = useForm({
    initialValues: { name },
    validate: { name: (given) => (given.trim() === '' ? 'Enter a name.' : null) },
  });
  const sending = useFormSubmit(form, (values) => send(values.name.trim()), { name: 'name' });
  return (
    <SubmitForm sending={sending} submit="Create passkey" onClose={onClose}>
      <Text>Your device asks for your fingerprint, face or screen lock next.</Text>
      <TextInput
        label="Name"
        description="To recognise it in your list"
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
    </SubmitForm>
  );
}
