// Asking for the password once more, before what could take the sign-in from its owner.
import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useUser } from '../../api/session.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';

type Props = {
  /** What will happen. */
  readonly text: string;
  /** On the button. */
  readonly action: string;
  readonly danger?: boolean;
  readonly send: (body: { readonly password: string }) => Promise<unknown>;
  readonly onClose: () => void;
};

/** What a dialog shows that goes on with the password only. */
export function OwnPasswordForm({ text, action, danger = false, send, onClose }: Props) {
  const form = useForm({ initialValues: { password: '' }, validate: { password: checkOwnPassword } });
  const { onSubmit, error, isSubmitting } = useFormSubmit(form, send, { password: 'password' });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <Text>{text}</Text>
        <OwnerOfPassword />
        <PasswordInput label="Your password" autoComplete="current-password" data-autofocus {...form.getInputProps('password')} />
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isSubmitting}>
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

/** For password managers, which then know whose it is. */
export function OwnerOfPassword() {
  const { email } = useUser();
  return <input type="hidden" name="username" autoComplete="username" value={email} readOnly />;
}

export function checkOwnPassword(password: string): string | null {
  return password === '' ? 'Enter your password.' : null;
}
