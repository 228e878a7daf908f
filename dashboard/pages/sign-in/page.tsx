// Sign-in: by e-mail and password with an optional second factor, by a passkey, or through the
// configured provider.
import { Alert, Button, Divider, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { AppLink } from '../../parts/link.tsx';
import { showError } from '../../parts/notify.ts';
import { passkeyObstacle } from '../../parts/passkeys.ts';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { Card } from './card.tsx';
import { checkEmail } from '../../parts/field-checks.ts';
import { enter, safeNext } from './enter.ts';
import { PasskeyButton } from './passkey-button.tsx';

export function Page() {
  const { user } = useSession();
  const [{ next, error, wasReset, hasExpired }] = useUrlState((search) => ({
    next: safeNext(search.next),
    error: search.error,
    wasReset: search.reset === 'done',
    hasExpired: search.reason === 'expired',
  }));
  const [step, setStep] = useState<'password' | 'second-factor'>('password');
  if (user && step === 'password') return <Redirect href={next} />;
  if (step === 'second-factor')
    return <SecondFactor next={next} onRestart={() => setStep('password')} />;
  return (
    <PasswordStep
      next={next}
      notice={noticeOf({ error, wasReset, hasExpired, next })}
      onSecondFactor={() => setStep('second-factor')}
    />
  );
}

function Redirect({ href }: { readonly href: string }) {
  const router = useRouter();
  useEffect(() => router.history.replace(href), [router, href]);
  return null;
}

type Notice = { readonly color: 'green' | 'red' | 'accent'; readonly text: string };

type Arrival = {
  readonly error: string | undefined;
  readonly wasReset: boolean;
  readonly hasExpired: boolean;
  readonly next: string;
};

/** Says why the page asks, or how a password reset or a sign-in through a provider ended. */
function noticeOf({ error, wasReset, hasExpired, next }: Arrival): Notice | null {
  if (wasReset) return { color: 'green', text: 'Your new password is set. Sign in with it.' };
  if (error === undefined && hasExpired)
    return {
      color: 'accent',
      text: 'Your session has ended. Sign in again to continue where you were. What you had typed is kept, except passwords.',
    };
  if (error === undefined)
    return next === '/' ? null : { color: 'accent', text: 'Sign in to open the page.' };
  const texts: Readonly<Record<string, string>> = {
    signup_closed:
      'No user here has your e-mail address, and sign-up is closed. Ask for an invitation.',
    email_not_verified:
      'The provider has not verified your e-mail address, so you cannot sign in with it.',
    account_not_linked:
      'Your user here is not linked to that provider. Sign in with your password and confirm your e-mail address under Settings, then try again.',
  };
  return {
    color: 'red',
    text: texts[error] ?? 'Signing in through the provider failed. Try again.',
  };
}

type StepProps = {
  readonly next: string;
  readonly notice: Notice | null;
  readonly onSecondFactor: () => void;
};

function PasswordStep({ next, notice, onSecondFactor }: StepProps) {
  const { features } = useSession();
  const hasPasskeys = passkeyObstacle(features) === null;
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '' },
    validate: {
      email: checkEmail,
      password: (password) => (password === '' ? 'Enter your password.' : null),
    },
  });
  const sending = useFormSubmit(
    form,
    async ({ email, password }) => {
      const step = await api('POST /auth/sign-in', { body: { email: email.trim(), password } });
      if (step.next === 'second-factor') onSecondFactor();
      else await enter(next);
    },
    { email: 'email' },
  );
  return (
    <Card
      title="Sign in"
      footer={
        features.signup_open && (
          <>
            No account yet? <AppLink to="/sign-up">Sign up</AppLink>
          </>
        )
      }
    >
      {notice && (
        <Alert
          color={notice.color}
          variant="light"
          role={notice.color === 'red' ? 'alert' : 'status'}
        >
          {notice.text}
        </Alert>
      )}
      {features.oidc_name !== null && <ProviderButton name={features.oidc_name} next={next} />}
      <SubmitForm
        sending={sending}
        submit="Sign in"
        button={{ fullWidth: true }}
        beside={
          <AppLink to="/forgot-password" ta="center" size="sm" w="100%">
            Forgot your password?
          </AppLink>
        }
      >
        <TextInput
          label="E-mail"
          type="email"
          autoComplete={hasPasskeys ? 'username webauthn' : 'username'}
          autoFocus
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
      </SubmitForm>
      {hasPasskeys && <PasskeyButton next={next} />}
    </Card>
  );
}

function ProviderButton({ name, next }: { readonly name: string; readonly next: string }) {
  const [isRedirecting, setRedirecting] = useState(false);
  const redirect = async () => {
    setRedirecting(true);
    try {
      const { url } = await api('POST /auth/oidc', { body: { next } });
      location.href = url;
    } catch (error) {
      setRedirecting(false);
      showError(error);
    }
  };
  return (
    <>
      <Button variant="default" fullWidth loading={isRedirecting} onClick={() => void redirect()}>
        Continue with {name}
      </Button>
      <Divider label="or with your password" />
    </>
  );
}

function SecondFactor({
  next,
  onRestart,
}: {
  readonly next: string;
  readonly onRestart: () => void;
}) {
  const [kind, setKind] = useState<'totp' | 'backup'>('totp');
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { code: '' },
    validate: { code: (code) => (code.trim() === '' ? 'Enter the code.' : null) },
  });
  const sending = useFormSubmit(
    form,
    async ({ code }) => {
      await api('POST /auth/second-factor', {
        body: { code: kind === 'totp' ? code.replaceAll(/\s/g, '') : code.trim(), kind },
      });
      await enter(next);
    },
    { code: 'code' },
  );
  const isTotp = kind === 'totp';
  return (
    <Card
      title="Two-factor authentication"
      text={
        isTotp
          ? 'Enter the six digits from your authenticator app.'
          : 'Enter one of your backup codes. Each works once.'
      }
    >
      <SubmitForm
        sending={sending}
        submit="Continue"
        button={{ fullWidth: true }}
        beside={
          <>
            <Button variant="subtle" fullWidth onClick={() => setKind(isTotp ? 'backup' : 'totp')}>
              {isTotp ? 'Use a backup code' : 'Use the authenticator app'}
            </Button>
            <Button variant="subtle" color="gray" fullWidth onClick={onRestart}>
              Start over
            </Button>
          </>
        }
      >
        <TextInput
          label={isTotp ? 'Code' : 'Backup code'}
          inputMode={isTotp ? 'numeric' : 'text'}
          autoComplete="one-time-code"
          autoFocus
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
      </SubmitForm>
    </Card>
  );
}
