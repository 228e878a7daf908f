// The account's name, its storage of answers, and whether members need a second factor. Only owners
// can change them.
import { Code, Group, SimpleGrid, Input, Switch, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { showSuccess, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { DateTime } from '../../parts/time-ago.tsx';
import { NameForm } from './name-form.tsx';

type Settings = Output<'GET /accounts/:account/settings'>;
type Props = { readonly settings: Settings };

const retentionText =
  'Answers are stored encrypted. A retry with the same Idempotency-Key gets the same answer, and repeated requests can be answered from the cache.';

const factorText =
  'The account is closed, in the dashboard, to members who sign in by password without an authenticator app. Keys go on working.';

export function AccountPanel() {
  const settings = useApi('GET /accounts/:account/settings', {});
  const isOwner = useIsAtLeast('owner');
  return (
    <Panel
      title="Account"
      description={isOwner ? undefined : 'Only owners can change these settings.'}
    >
      <QueryView query={settings}>
        {(data) => (
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="lg">
            {isOwner ? (
              <Name key={data.name} settings={data} />
            ) : (
              <Fact label="Name">{data.name}</Fact>
            )}
            {isOwner ? (
              <Retention settings={data} />
            ) : (
              <Fact label="Store answers" description={retentionText}>
                {data.retain_responses ? 'Yes' : 'No'}
              </Fact>
            )}
            {isOwner ? (
              <RequiredFactor settings={data} />
            ) : (
              <Fact label="Require a second factor" description={factorText}>
                {data.requires_second_factor ? 'Yes' : 'No'}
              </Fact>
            )}
            <Fact label="Account ID">
              <Group gap="xs">
                <Code>{data.id}</Code>
                <CopyButton text={data.id} label="Copy account ID" />
              </Group>
            </Fact>
            <Fact label="Created">
              <DateTime at={data.created_at} zoned />
            </Fact>
          </SimpleGrid>
        )}
      </QueryView>
    </Panel>
  );
}

type FactProps = {
  readonly label: string;
  readonly description?: string;
  readonly children: ReactNode;
};

function Fact({ label, description, children }: FactProps) {
  return (
    <Input.Wrapper label={label} labelElement="div">
      <Text component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
      {description && (
        <Text size="xs" c="dimmed" mt={2}>
          {description}
        </Text>
      )}
    </Input.Wrapper>
  );
}

function useUpdate(message: string) {
  return useChange('PATCH /accounts/:account/settings', {
    invalidates: ['GET /accounts/:account/settings', 'GET /session'],
    onSuccess: () => showSuccess(message),
  });
}

function Name({ settings: { name } }: Props) {
  const update = useUpdate('Account renamed.');
  return (
    <NameForm
      name={name}
      autoComplete="off"
      check={(changed) => (changed.trim() === '' ? 'Enter a name.' : null)}
      rename={(body) => update.mutateAsync({ body })}
    />
  );
}

function Retention({ settings }: Props) {
  const update = useUpdate('Saved. The change applies within seconds.');
  const set = (isOn: boolean) => update.mutateAsync({ body: { retain_responses: isOn } });
  const ask = (isOn: boolean) => {
    if (isOn) {
      set(true).catch(showError);
      return;
    }
    confirm({
      title: 'Stop storing answers?',
      text: 'Stored answers and kept bodies are erased. Retries with an Idempotency-Key get no stored answer, and nothing is answered from the cache.',
      action: 'Stop and erase',
      danger: true,
      run: () => set(false),
    });
  };
  return (
    <Switch
      label="Store answers"
      description={retentionText}
      checked={settings.retain_responses}
      disabled={update.isPending}
      onChange={(event) => ask(event.currentTarget.checked)}
    />
  );
}

function RequiredFactor({ settings }: Props) {
  const update = useUpdate('Saved.');
  const set = (isOn: boolean) => update.mutateAsync({ body: { requires_second_factor: isOn } });
  return (
    <Switch
      label="Require a second factor"
      description={factorText}
      checked={settings.requires_second_factor}
      disabled={update.isPending}
      onChange={(event) => void set(event.currentTarget.checked).catch(showError)}
    />
  );
}
