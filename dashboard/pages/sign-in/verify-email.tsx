// Confirms the user's e-mail address. Only a click uses up the link, because mail programs open
// links in advance.
import { Button } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { AppLink, ButtonLink } from '../../parts/link.tsx';
import { useRun } from '../../parts/use-run.ts';
import { Card } from './card.tsx';
import { OneTimeLink } from './one-time-link.tsx';
import { enter } from './enter.ts';

export function Page() {
  return (
    <OneTimeLink kind="verify-email" remedy={<AppLink to="/">Go to the dashboard</AppLink>}>
      {(token, { email }) => <VerifyEmail token={token} email={email} />}
    </OneTimeLink>
  );
}

type Props = { readonly token: string; readonly email: string | null };

function VerifyEmail({ token, email }: Props) {
  const { user } = useSession();
  return user ? <Confirm token={token} email={email} /> : <SignInFirst email={email} />;
}

function SignInFirst({ email }: Pick<Props, 'email'>) {
  const { href } = useLocation();
  return (
    <Card title="Confirm your e-mail address" text={`Sign in to confirm ${email ?? 'it'}.`}>
      <ButtonLink to="/sign-in" search={{ next: href }} fullWidth>
        Sign in
      </ButtonLink>
    </Card>
  );
}

function Confirm({ token, email }: Props) {
  const [isDone, setDone] = useState(false);
  const { start, isRunning, error } = useRun(async () => {
    await api('POST /auth/verify-email', { body: { token } });
    setDone(true);
  });
  if (isDone) {
    return (
      <Card title="Thank you" text={`${email ?? 'Your e-mail address'} is confirmed.`}>
        <Button fullWidth onClick={() => void enter('/')}>
          Continue
        </Button>
      </Card>
    );
  }
  return (
    <Card title="Confirm your e-mail address" text={email ?? undefined}>
      {error && <ErrorNotice error={error} />}
      <Button fullWidth loading={isRunning} onClick={() => void start()}>
        Confirm
      </Button>
    </Card>
  );
}
