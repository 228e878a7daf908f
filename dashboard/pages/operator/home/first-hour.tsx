// The set-up steps of a new installation. Each is done here or on a page that it links to.
import { Accordion, Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconCircle, IconCircleCheck } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useChosenAccount } from '../../../api/account.ts';
import type { Output } from '../../../api/client.ts';
import { useUser } from '../../../api/session.ts';
import { useApi } from '../../../api/use-api.ts';
import { ButtonLink } from '../../../parts/link.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { firstModel } from '../../../parts/first-request.ts';
import { SendStep } from '../../../parts/send-step.tsx';
import { NewKeyNotice } from '../../../parts/new-key-dialog.tsx';
import { BalanceStep, type CreatedKey, LiveKeyStep, ProviderStep } from './steps.tsx';

type SetUp = Output<'GET /operator/attention'>['set_up'];

/** Areas of `What to do next` that the steps say already. */
export const firstHourAreas = ['providers', 'mail', 'backup'];

/** `hide`: null while something is missing that a first request needs. */
export function useFirstHour(setUp: SetUp | undefined) {
  const [isHidden, setHidden] = useLocalStorage({
    key: 'tollgate.first-hour.hidden',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const { second_factor: hasSecondFactor } = useUser();
  const isDone = setUp !== undefined && hasSecondFactor && Object.values(setUp).every(Boolean);
  const runs = setUp !== undefined && needed.every((name) => setUp[name]);
  return {
    isShown: setUp !== undefined && !isDone && !(runs && isHidden),
    hide: runs ? () => setHidden(true) : null,
  };
}

const needed = ['provider', 'live_key', 'balance', 'live_request'] as const;

export function FirstHour({ setUp }: { readonly setUp: SetUp }) {
  const { isShown, hide } = useFirstHour(setUp);
  const { second_factor: hasSecondFactor } = useUser();
  const account = useChosenAccount();
  const client = useQueryClient();
  // The secret is shown only once, so it outlives its step.
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  if (!isShown) return null;
  const steps: readonly Step[] = [
    {
      name: 'provider',
      title: 'Switch on a provider',
      isDone: setUp.provider,
      body: <ProviderStep />,
    },
    {
      name: 'key',
      title: 'Create a live key with a cap',
      isDone: setUp.live_key,
      body: account ? <LiveKeyStep onCreated={setCreated} /> : <NoAccount />,
    },
    {
      name: 'balance',
      title: 'Give the account a balance',
      isDone: setUp.balance,
      body: account ? <BalanceStep account={account.id} /> : <NoAccount />,
    },
    {
      name: 'request',
      title: 'Send the first live request',
      isDone: setUp.live_request,
      body: account ? (
        <FirstRequest
          created={created}
          onSent={() => {
            // The answer stays in sight when its step is done.
            setChosen('request');
            for (const name of ['attention', 'report', 'movers', 'money'])
              void client.invalidateQueries({ queryKey: [`GET /operator/${name}`] });
          }}
        />
      ) : (
        <NoAccount />
      ),
    },
    {
      name: 'invite',
      title: 'Invite somebody',
      isDone: setUp.invited,
      body: (
        <ButtonLink to="/settings" search={(before) => ({ ...before, tab: 'members' })}>
          Members of your account
        </ButtonLink>
      ),
    },
    {
      name: 'mail',
      title: 'Set a mail server',
      isDone: setUp.mail,
      body: (
        <Text>
          Without it nobody gets invitations, links for a new password or warnings by e-mail. Set{' '}
          <Code>smtp</Code> in the configuration:{' '}
          <Anchor href="/docs/configuration" underline="always">
            how to
          </Anchor>
        </Text>
      ),
    },
    {
      name: 'backup',
      title: 'Make a backup',
      isDone: setUp.backup,
      body: (
        <Text>
          Run <Code>npx tollgate backup FILE</Code> every day, and keep the file on another machine:{' '}
          <Anchor href="/docs/operations#backup" underline="always">
            how to
          </Anchor>
        </Text>
      ),
    },
    {
      name: 'second-factor',
      title: 'Protect your sign-in with a second factor',
      isDone: hasSecondFactor,
      body: (
        <ButtonLink to="/settings" search={(before) => ({ ...before, tab: 'security' })}>
          Your sign-in
        </ButtonLink>
      ),
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  const next = steps.find(({ isDone }) => !isDone)?.name ?? null;
  return (
    <Panel
      title="Set up your gateway"
      description={`${done} of ${steps.length} steps done`}
      actions={
        hide && (
          <Button variant="subtle" color="gray" size="xs" onClick={hide}>
            Hide
          </Button>
        )
      }
    >
      <Stack>
        {created && <NewKeyNotice secret={created.secret} />}
        <Accordion value={chosen ?? next} onChange={(name) => setChosen(name ?? '')}>
          {steps.map(({ name, title, isDone, body }) => (
            <Accordion.Item key={name} value={name}>
              <Accordion.Control
                icon={
                  isDone ? (
                    <IconCircleCheck
                      size={20}
                      color="var(--mantine-color-green-text)"
                      aria-label="Done"
                    />
                  ) : (
                    <IconCircle size={20} aria-label="To do" />
                  )
                }
              >
                {title}
              </Accordion.Control>
              <Accordion.Panel>{(chosen ?? next) === name && body}</Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      </Stack>
    </Panel>
  );
}

type Step = {
  readonly name: string;
  readonly title: string;
  readonly isDone: boolean;
  readonly body: ReactNode;
};

function NoAccount() {
  return (
    <Group>
      <Text>You are a member of no account.</Text>
      <ButtonLink to="/operator/accounts" search={{ create: 'yes' }} variant="default">
        Create an account
      </ButtonLink>
    </Group>
  );
}

function FirstRequest({
  created,
  onSent,
}: {
  readonly created: CreatedKey | null;
  readonly onSent: () => void;
}) {
  const keys = useApi('GET /accounts/:account/keys', {
    query: { mode: 'live', state: ['active'], limit: 1 },
  });
  const catalogue = useApi('GET /accounts/:account/models', {});
  const key = created?.key ?? keys.data?.data[0] ?? null;
  const allowed = key?.models ?? null;
  return (
    <SendStep
      keyId={key?.id ?? null}
      model={firstModel(catalogue.data?.chat ?? [], { mode: 'live', allowed })}
      text="Say hello in one short sentence."
      isReady={!catalogue.isPending && !keys.isPending}
      onSent={onSent}
    />
  );
}
