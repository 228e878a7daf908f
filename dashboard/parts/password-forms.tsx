// Forms that ask for the password again before a sensitive change.
import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useUser } from '../api/session.ts';
import { ErrorNotice } from './error-notice.tsx';
import { useFormSubmit } from './use-form-submit.ts';
import { codeOf } from './second-factor-codes.ts';

type Props = {
  /** Describes what will happen. */
  readonly text: string;
  /** Label of the button. */
  readonly action: string;
  readonly send: (body: { readonly password: string }) => Promise<unknown>;
  readonly onClose: () => void;
};

type PasswordProps = Props & { readonly danger?: boolean };

type SecondFactorProps = Omit<PasswordProps, 'send'> & {
  readonly send: (body: { readonly password: string; readonly code: string }) => Promise<unknown>;
};

/** Asks for the password and a two-factor code. */
export function SecondFactorForm({
  text,
  action,
  danger = false,
  send,
  onClose,
}: SecondFactorProps) {
  const form = useForm({
    initialValues: { password: '', code: '' },
    validate: {
      password: checkPassword,
      code: (code) => (code.trim() === '' ? 'Enter a code from your app, or a backup code.' : null),
    },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    ({ password, code }) => send({ password, code: codeOf(code) }),
    { password: 'password', code: 'code' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <Text>{text}</Text>
        <UsernameForPasswordManagers />
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          data-autofocus
          {...form.getInputProps('password')}
        />
        <TextInput
          label="Code"
          description="From your app, or a backup code"
          autoComplete="one-time-code"
          {...form.getInputProps('code')}
        />
        {error && <ErrorNotice error={error} />}
        <Actions action={action} danger={danger} isSubmitting={isSubmitting} onClose={onClose} />
      </Stack>
    </form>
  );
}

/** Asks for the password, and for a two-factor code if the user has a second factor. */
export function ConfirmationForm({
  hasSecondFactor,
  ...props
}: Omit<SecondFactorProps, 'send'> & {
  readonly hasSecondFactor: boolean;
  readonly send: (body: { readonly password: string; readonly code?: string }) => Promise<unknown>;
}) {
  return hasSecondFactor ? <SecondFactorForm {...props} /> : <PasswordForm {...props} />;
}

/** Asks for the password. */
export function PasswordForm({ text, action, danger = false, send, onClose }: PasswordProps) {
  const form = useForm({ initialValues: { password: '' }, validate: { password: checkPassword } });
  const { onSubmit, error, isSubmitting } = useFormSubmit(form, send, { password: 'password' });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <Text>{text}</Text>
        <UsernameForPasswordManagers />
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          data-autofocus
          {...form.getInputProps('password')}
        />
        {error && <ErrorNotice error={error} />}
        <Actions action={action} danger={danger} isSubmitting={isSubmitting} onClose={onClose} />
      </Stack>
    </form>
  );
}

type ActionsProps = Pick<SecondFactorProps, 'action' | 'danger' | 'onClose'> & {
  readonly isSubmitting: boolean;
};

function Actions({ action, danger = false, isSubmitting, onClose }: ActionsProps) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose} disabled={isSubmitting}>
        Cancel
      </Button>
      <Button type="submit" color={danger ? 'red' : undefined} loading={isSubmitting}>
        {action}
      </Button>
    </Group>
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
