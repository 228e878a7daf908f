// Gives a program on another machine a key, such as `claude /login`. Somebody may have sent the link
// to this page to get a key of the user's account, so it shows what asks and from where, and nothing
// happens without a click.
import { Alert, Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { chooseAccount } from '../../api/choose-account.ts';
import type { Output } from '../../api/client.ts';
import { useSession, type SessionInfo } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { checkName } from '../../parts/field-checks.ts';
import { ButtonLink } from '../../parts/link.tsx';
import { showError } from '../../parts/notify.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { Card } from './card.tsx';

type Waiting = Output<'POST /device-logins/find'>;

const title = 'Sign a program in';

export function Page() {
  const { user } = useSession();
  const { href } = useLocation();
  const [waiting, setWaiting] = useState<Waiting | null>(null);
  const [result, setResult] = useState<'confirmed' | 'denied' | null>(null);
  if (!user)
    return (
      <Card title={title} text="Sign in to give a program on your machine a key.">
        <ButtonLink to="/sign-in" search={{ next: href }} fullWidth>
          Sign in
        </ButtonLink>
      </Card>
    );
  if (result === 'confirmed')
    return <Card title="Done" text="Go back to your program: it gets its key within seconds." />;
  if (result === 'denied') return <Card title="Refused" text="The program gets no key." />;
  return waiting ? (
    <Decide waiting={waiting} onDecided={setResult} />
  ) : (
    <EnterCode onFound={setWaiting} />
  );
}

function EnterCode({ onFound }: { readonly onFound: (waiting: Waiting) => void }) {
  const [sent, setSent] = useUrlState((search) => search.user_code ?? '');
  const { mutateAsync } = useChange('POST /device-logins/find');
  const form = useForm({ mode: 'uncontrolled', initialValues: { code: sent } });
  const find = async ({ code }: { readonly code: string }) => {
    const waiting = await mutateAsync({ body: { user_code: code } });
    // The address keeps the code, so a user who must sign in again need not type it again.
    setSent({ user_code: waiting.user_code });
    onFound(waiting);
  };
  const sending = useFormSubmit(form, find, { user_code: 'code' });
  return (
    <Card title={title} text="Enter the code that the program on your machine shows.">
      <SubmitForm sending={sending} submit="Continue" button={{ fullWidth: true }}>
        <TextInput
          label="Code"
          placeholder="WDJB-MJHT"
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
      </SubmitForm>
    </Card>
  );
}

/** The accounts in which the user may make keys. */
function accountsOf({ accounts }: SessionInfo) {
  return accounts.filter(({ role }) => role === 'owner' || role === 'admin');
}

type DecideProps = {
  readonly waiting: Waiting;
  readonly onDecided: (result: 'confirmed' | 'denied') => void;
};

function Decide({ waiting, onDecided }: DecideProps) {
  const { program, address, user_code, is_same_address: isSame } = waiting;
  const giveKey = useChange('POST /accounts/:account/device-logins');
  const refuse = useChange('POST /device-logins/deny');
  const accounts = accountsOf(useSession());
  const [asked] = useUrlState((search) => search.account);
  const chosen = chooseAccount(accounts, asked) ?? accounts[0];
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: `${program} at ${address}`, account: chosen?.id ?? '' },
    validate: { name: checkName },
  });
  const confirm = async ({
    name,
    account,
  }: {
    readonly name: string;
    readonly account: string;
  }) => {
    const body = { user_code, name: name.trim() };
    await giveKey.mutateAsync({ params: { account }, body });
    onDecided('confirmed');
  };
  const { onSubmit, error, isSubmitting } = useFormSubmit(form, confirm, { name: 'name' });
  const deny = async () => {
    await refuse.mutateAsync({ body: { user_code } });
    onDecided('denied');
  };
  return (
    <Card
      title={title}
      text={`${program} at ${address} asks for a key, with the code ${user_code}.`}
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <Alert
            color={isSame ? 'blue' : 'red'}
            title={isSame ? 'Did you start this?' : 'It asks from another network than yours'}
          >
            Continue only if you have started it yourself, just now, and your machine shows this
            code. If somebody sent you the code or a link, refuse: they would spend the account’s
            money.
          </Alert>
          <Select
            label="Account"
            data={accounts.map(({ id, name }) => ({ value: id, label: name }))}
            allowDeselect={false}
            key={form.key('account')}
            {...form.getInputProps('account')}
          />
          <TextInput
            label="Name of the key"
            key={form.key('name')}
            {...form.getInputProps('name')}
          />
          {accounts.length === 0 && (
            <Alert color="orange">You may make no keys. Ask an owner of your account.</Alert>
          )}
          {error && <ErrorNotice error={error} />}
          <Group grow>
            <Button variant="default" onClick={() => void deny().catch(showError)}>
              Refuse
            </Button>
            <Button type="submit" loading={isSubmitting} disabled={accounts.length === 0}>
              Give it a key
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
