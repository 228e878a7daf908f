// Page of the one-time link that a new installation prints. It creates the first operator.
import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useServiceName } from '../../api/session.ts';
import { api } from '../../api/client.ts';
import { AppLink } from '../../parts/link.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { Card } from './card.tsx';
import { checkEmail, checkName, checkNewPassword } from '../../parts/field-checks.ts';
import { NewUserFields } from './new-user-fields.tsx';
import { OneTimeLink } from './one-time-link.tsx';
import { enter } from './enter.ts';

export function Page() {
  return (
    <OneTimeLink
      kind="first-run"
      remedy={
        <>
          To get a new link, restart the gateway or run{' '}
          <code>npx tollgate users first-run-link</code>. If a user already exists,{' '}
          <AppLink to="/sign-in">sign in</AppLink>.
        </>
      }
    >
      {(token) => <FirstRun token={token} />}
    </OneTimeLink>
  );
}

function FirstRun({ token }: { readonly token: string }) {
  const service = useServiceName();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', email: '', password: '', accountName: '' },
    validate: {
      name: checkName,
      email: checkEmail,
      password: checkNewPassword,
      accountName: (text) => (text.trim() === '' ? 'Give the account a name.' : null),
    },
  });
  const sending = useFormSubmit(
    form,
    async ({ name, email, password, accountName }) => {
      await api('POST /auth/first-run', {
        body: {
          token,
          name: name.trim(),
          email: email.trim(),
          password,
          account_name: accountName.trim(),
        },
      });
      // The operator's home begins with what a new installation still lacks.
      await enter('/operator');
    },
    { name: 'name', email: 'email', password: 'password', account_name: 'accountName' },
  );
  return (
    <Card
      title={`Welcome to ${service}`}
      text="You are the first user. You become the operator and own the first account."
    >
      <SubmitForm sending={sending} submit="Create user" button={{ fullWidth: true }}>
        <NewUserFields form={form} />
        <TextInput
          label="Name of the first account"
          description="Your company or team. Whom you invite sees it."
          maxLength={100}
          autoComplete="organization"
          key={form.key('accountName')}
          {...form.getInputProps('accountName')}
        />
      </SubmitForm>
    </Card>
  );
}
