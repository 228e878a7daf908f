// A new password, which ends all other sessions.
import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi, useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showDone } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { checkNewPassword, passwordHint } from '../sign-in/fields.ts';

export function PasswordPanel() {
  const profile = useApi('GET /profile', {});
  return (
    <Panel title="Password" description="Changing it signs you out everywhere else.">
      <QueryView query={profile}>
        {({ has_password: hasPassword }) =>
          hasPassword ? (
            <PasswordForm />
          ) : (
            <Text>
              You sign in through a provider and have no password here. “Forgot password” on the sign-in page makes one.
            </Text>
          )
        }
      </QueryView>
    </Panel>
  );
}

function PasswordForm() {
  const change = useChange('POST /profile/password', {
    invalidates: ['GET /profile/sessions'],
    onSuccess: () => showDone('Your password is changed.'),
  });
  const form = useForm({
    initialValues: { current: '', fresh: '' },
    validate: { current: (current) => (current === '' ? 'Enter your password.' : null), fresh: checkNewPassword },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async ({ current, fresh }) => {
      await change.mutateAsync({ body: { current_password: current, new_password: fresh } });
      form.reset();
    },
    { current_password: 'current', new_password: 'fresh' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack maw={520}>
        <PasswordInput label="Current password" autoComplete="current-password" {...form.getInputProps('current')} />
        <PasswordInput
          label="New password"
          description={passwordHint}
          autoComplete="new-password"
          {...form.getInputProps('fresh')}
        />
        {error && <ErrorNotice error={error} />}
        <Group>
          <Button type="submit" variant="default" loading={isSubmitting}>
            Change the password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
