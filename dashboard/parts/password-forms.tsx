// Forms that ask for the password again before a sensitive change.
import { PasswordInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useUser } from '../api/session.ts';
import { SubmitForm } from './submit-form.tsx';
import { useFormSubmit } from './use-form-submit.ts';
import { codeOf } from './second-factor-codes.ts';

type Props = {
  /** Describes what will happen. */
  readonly text: string;
  /** Label of the button. */
  readonly action: string;
  readonly danger?: boolean;
  readonly hasSecondFactor: boolean;
  /** `code`: only with a second factor. */
  readonly send: (body: { readonly password: string; readonly code?: string }) => Promise<unknown>;
  readonly onClose: () => void;
};

/** Asks for the password, and for a two-factor code if the user has a second factor. */
export function ConfirmationForm({ text, action, danger, hasSecondFactor, send, onClose }: Props) {
  const form = useForm({
    initialValues: { password: '', code: '' },
    validate: {
      password: checkPassword,
      code: (code) =>
        hasSecondFactor && code.trim() === ''
          ? 'Enter a code from your app, or a backup code.'
          : null,
    },
  });
  const sending = useFormSubmit(
    form,
    ({ password, code }) => send({ password, ...(hasSecondFactor && { code: codeOf(code) }) }),
    { password: 'password', code: 'code' },
  );
  return (
    <SubmitForm
      sending={sending}
      submit={action}
      button={{ color: danger ? 'red' : undefined }}
      onClose={onClose}
    >
      <Text>{text}</Text>
      <UsernameForPasswordManagers />
      <PasswordInput
        label="Your password"
        autoComplete="current-password"
        data-autofocus
        {...form.getInputProps('password')}
      />
      {hasSecondFactor && (
        <TextInput
          label="Code"
          description="From your app, or a backup code"
          autoComplete="one-time-code"
          {...form.getInputProps('code')}
        />
      )}
    </SubmitForm>
  );
}

/** Hidden field that tells password managers whose password it is. */
export function UsernameForPasswordManagers() {
  const { email } = useUser();
  return <input type="hidden" name="username" autoComplete="username" value={email} readOnly />;
}

export function checkPassword(password: string): string | null {
  return password === '' ? 'Enter your password.' : null;
}
