// Requests a password reset link.
import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useSession } from '../../api/session.ts';
import { api } from '../../api/client.ts';
import { AppLink } from '../../parts/link.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { Card } from './card.tsx';
import { checkEmail } from '../../parts/field-checks.ts';

export function Page() {
  const { features } = useSession();
  const [isSent, setSent] = useState(false);
  const back = <AppLink to="/sign-in">Back to sign-in</AppLink>;
  if (!features.smtp) {
    return (
      <Card
        title="Forgot your password?"
        text="This service sends no e-mail. Ask its operator for a link to set a new password."
        footer={back}
      />
    );
  }
  if (isSent) {
    const text =
      'If a user has this address, a link was sent to it. The link works once and expires in an hour.';
    return <Card title="Check your e-mail" text={text} footer={back} />;
  }
  return <AskForLink onSent={() => setSent(true)} footer={back} />;
}

function AskForLink({
  onSent,
  footer,
}: {
  readonly onSent: () => void;
  readonly footer: React.ReactNode;
}) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '' },
    validate: { email: checkEmail },
  });
  const sending = useFormSubmit(
    form,
    async ({ email }) => {
      await api('POST /auth/password-reset', { body: { email: email.trim() } });
      onSent();
    },
    { email: 'email' },
  );
  return (
    <Card
      title="Forgot your password?"
      text="Enter your e-mail address to get a link for a new password."
      footer={footer}
    >
      <SubmitForm sending={sending} submit="Send link" button={{ fullWidth: true }}>
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          autoFocus
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
      </SubmitForm>
    </Card>
  );
}
