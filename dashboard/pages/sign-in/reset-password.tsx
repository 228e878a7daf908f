// Sets a new password with a one-time link.
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { AppLink } from '../../parts/link.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { Card } from './card.tsx';
import { checkNewPassword } from '../../parts/field-checks.ts';
import { NewPasswordField } from './new-user-fields.tsx';
import { OneTimeLink } from './one-time-link.tsx';

export function Page() {
  return (
    <OneTimeLink
      kind="password-reset"
      remedy={<AppLink to="/forgot-password">Ask for a new link</AppLink>}
    >
      {(token, { email }) => <NewPassword token={token} email={email} />}
    </OneTimeLink>
  );
}

function NewPassword({ token, email }: { readonly token: string; readonly email: string | null }) {
  const navigate = useNavigate();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { password: '' },
    validate: { password: checkNewPassword },
  });
  const sending = useFormSubmit(
    form,
    async ({ password }) => {
      await api('POST /auth/password-reset/complete', { body: { token, password } });
      await navigate({ to: '/sign-in', search: { reset: 'done' }, replace: true });
    },
    { password: 'password' },
  );
  return (
    <Card
      title="Choose a new password"
      text={email === null ? undefined : `For ${email}. This signs you out everywhere.`}
    >
      <SubmitForm sending={sending} submit="Set password" button={{ fullWidth: true }}>
        {/* Tells password managers whose password it is. */}
        {email !== null && (
          <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        )}
        <NewPasswordField form={form} />
      </SubmitForm>
    </Card>
  );
}
