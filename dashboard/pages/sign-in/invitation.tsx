// Accepts an invitation to an account, as the signed-in user or as a new one.
import { Button } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useLocation } from '@tanstack/react-router';
import { useSession } from '../../api/session.ts';
import { api, type Output } from '../../api/client.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { useRun } from '../../parts/use-run.ts';
import { Card } from './card.tsx';
import { checkName, checkNewPassword } from '../../parts/field-checks.ts';
import { NewUserFields } from './new-user-fields.tsx';
import { FailedCard, LoadingCard, useTokenQuery } from './one-time-link.tsx';
import { enter } from './enter.ts';

type InvitationInfo = Output<'POST /auth/invitation'>;

type Props = { readonly token: string; readonly invitation: InvitationInfo };

export function Page() {
  const { user } = useSession();
  const [token] = useUrlState((search) => search.token ?? '');
  const query = useTokenQuery('invitation', token, () =>
    api('POST /auth/invitation', { body: { token } }),
  );
  if (query.isPending && token !== '') return <LoadingCard />;
  if (query.error && query.error.status !== 404)
    return <FailedCard error={query.error} onRetry={() => void query.refetch()} />;
  const invitation = query.data;
  if (!invitation) {
    return (
      <Card
        title="This invitation is no longer valid"
        text="It was accepted or withdrawn, or it has expired. Ask for a new one."
      />
    );
  }
  if (user && isSame(user.email, invitation.email))
    return <AcceptAsUser token={token} invitation={invitation} />;
  if (user) return <WrongUser email={user.email} invitation={invitation} />;
  return invitation.is_user ? (
    <SignInFirst invitation={invitation} />
  ) : (
    <AcceptAsNewUser token={token} invitation={invitation} />
  );
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function titleOf({ account_name: name }: InvitationInfo): string {
  return `Join ${name}`;
}

function textOf({ invited_by: by, role, account_name: name }: InvitationInfo): string {
  return `${by ?? 'The operator'} invites you to the account “${name}” as ${role === 'viewer' || role === 'member' ? 'a' : 'an'} ${role}.`;
}

function AcceptAsUser({ token, invitation }: Props) {
  const { start, isRunning, error } = useRun(async () => {
    const { account_id: account } = await api('POST /auth/invitation/accept', { body: { token } });
    await enter(`/?account=${account}`);
  });
  return (
    <Card title={titleOf(invitation)} text={textOf(invitation)}>
      {error && <ErrorNotice error={error} />}
      <Button fullWidth loading={isRunning} onClick={() => void start()}>
        Accept as {invitation.email}
      </Button>
    </Card>
  );
}

function WrongUser({
  email,
  invitation,
}: {
  readonly email: string;
  readonly invitation: InvitationInfo;
}) {
  const signOut = async () => {
    await api('POST /auth/sign-out', {});
    location.reload();
  };
  return (
    <Card
      title={titleOf(invitation)}
      text={`This invitation is for ${invitation.email}, and you are signed in as ${email}.`}
    >
      <Button fullWidth onClick={() => void signOut()}>
        Sign out and continue
      </Button>
      <ButtonLink to="/" variant="default" fullWidth>
        Stay signed in as {email}
      </ButtonLink>
    </Card>
  );
}

function SignInFirst({ invitation }: { readonly invitation: InvitationInfo }) {
  const { href } = useLocation();
  return (
    <Card
      title={titleOf(invitation)}
      text={`${textOf(invitation)} Sign in as ${invitation.email} to accept.`}
    >
      <ButtonLink to="/sign-in" search={{ next: href }} fullWidth>
        Sign in
      </ButtonLink>
    </Card>
  );
}

function AcceptAsNewUser({ token, invitation }: Props) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', email: invitation.email, password: '' },
    validate: { name: checkName, password: checkNewPassword },
  });
  const sending = useFormSubmit(
    form,
    async ({ name, password }) => {
      const { account_id: account } = await api('POST /auth/invitation/accept', {
        body: { token, name: name.trim(), password },
      });
      await enter(`/?account=${account}`);
    },
    { name: 'name', password: 'password' },
  );
  return (
    <Card title={titleOf(invitation)} text={textOf(invitation)}>
      <SubmitForm sending={sending} submit="Accept" button={{ fullWidth: true }}>
        <NewUserFields form={form} fixedEmail={invitation.email} />
      </SubmitForm>
    </Card>
  );
}
