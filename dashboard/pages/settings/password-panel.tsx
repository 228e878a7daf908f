// Changes the password, which ends all other sessions.
import { PasswordInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSession } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { showSuccess } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { checkNewPassword, passwordHint } from '../../parts/field-checks.ts';
import { checkPassword, UsernameForPasswordManagers } from '../../parts/password-forms.tsx';

export function PasswordPanel() {
  const profile = useApi('GET /profile', {});
  return (
    <Panel title="Password" description="Changing it signs you out everywhere else.">
      <QueryView query={profile}>
        {(data) => (data.has_password ? <ChangePasswordForm /> : <NoPassword />)}
      </QueryView>
    </Panel>
  );
}

function NoPassword() {
  const { smtp: hasMail } = useSession().features;
  return (
    <Text>
      You sign in through a provider and have no password here.{' '}
      {hasMail
        ? 'To set one, sign out and use “Forgot your password?”.'
        : 'To set one, ask the operator of this service for a link.'}
    </Text>
  );
}

function ChangePasswordForm() {
  const change = useChange('POST /profile/password', {
    invalidates: ['GET /profile/sessions'],
    onSuccess: () => showSuccess('Password changed.'),
  });
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '' },
    validate: { currentPassword: checkPassword, newPassword: checkNewPassword },
  });
  const sending = useFormSubmit(
    form,
    async ({ currentPassword, newPassword }) => {
      await change.mutateAsync({
        body: { current_password: currentPassword, new_password: newPassword },
      });
      form.reset();
    },
    { current_password: 'currentPassword', new_password: 'newPassword' },
  );
  return (
    <SubmitForm
      sending={sending}
      submit="Change password"
      button={{ variant: 'default' }}
      maw={520}
    >
      <UsernameForPasswordManagers />
      <PasswordInput
        label="Current password"
        autoComplete="current-password"
        {...form.getInputProps('currentPassword')}
      />
      <PasswordInput
        label="New password"
        description={passwordHint}
        autoComplete="new-password"
        {...form.getInputProps('newPassword')}
      />
    </SubmitForm>
  );
}
