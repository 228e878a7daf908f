// Sign-up, if the operator has opened it.
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useSession } from '../../api/session.ts';
import { api } from '../../api/client.ts';
import { AppLink } from '../../parts/link.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { Card } from './card.tsx';
import { checkEmail, checkName, checkNewPassword } from '../../parts/field-checks.ts';
import { NewUserFields } from './new-user-fields.tsx';
import { enter } from './enter.ts';

export function Page() {
  const { features } = useSession();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const toSignIn = <AppLink to="/sign-in">Sign in</AppLink>;
  if (!features.signup_open) {
    return (
      <Card
        title="Sign-up is closed"
        text="Ask an account owner or the operator for an invitation."
        footer={toSignIn}
      />
    );
  }
  if (sentTo !== null) {
    return (
      <Card
        title="Check your e-mail"
        text={`A link was sent to ${sentTo}. Open it to confirm your address, then sign in.`}
        footer={toSignIn}
      />
    );
  }
  return <SignUp onSent={setSentTo} />;
}

function SignUp({ onSent }: { readonly onSent: (email: string) => void }) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', email: '', password: '' },
    validate: { name: checkName, email: checkEmail, password: checkNewPassword },
  });
  const sending = useFormSubmit(
    form,
    async ({ name, email, password }) => {
      const { next } = await api('POST /auth/sign-up', {
        body: { name: name.trim(), email: email.trim(), password },
      });
      if (next === 'check-email') onSent(email.trim());
      else await enter('/');
    },
    { name: 'name', email: 'email', password: 'password' },
  );
  return (
    <Card
      title="Sign up"
      footer={
        <>
          Already have a user? <AppLink to="/sign-in">Sign in</AppLink>
        </>
      }
    >
      <SubmitForm sending={sending} submit="Sign up" button={{ fullWidth: true }}>
        <NewUserFields form={form} />
      </SubmitForm>
    </Card>
  );
}
