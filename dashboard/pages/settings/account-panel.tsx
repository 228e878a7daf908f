// The account's name, and whether its answers are kept. Owners change them, others read.
import { Button, Code, Group, Input, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { useIsAtLeast } from '../../app/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showDone, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { DateTime } from '../../parts/time-ago.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';

type Settings = Output<'GET /accounts/:account/settings'>;
type Props = { readonly settings: Settings };

const retentionText =
  'What is kept is encrypted. A retry under the same Idempotency-Key gets its answer again, and the cache answers repeated requests.';

export function AccountPanel() {
  const settings = useApi('GET /accounts/:account/settings', {});
  const isOwner = useIsAtLeast('owner');
  return (
    <Panel title="Account" description={isOwner ? undefined : 'An owner of the account can change these.'}>
      <QueryView query={settings}>
        {(data) => (
          <Stack gap="lg" maw={520}>
            {isOwner ? <NameForm key={data.name} settings={data} /> : <Fact label="Name">{data.name}</Fact>}
            {isOwner ? (
              <Retention settings={data} />
            ) : (
              <Fact label="Keep answers" description={retentionText}>
                {data.retain_responses ? 'Yes' : 'No'}
              </Fact>
            )}
            <Fact label="Account id">
              <Group gap="xs">
                <Code>{data.id}</Code>
                <CopyButton text={data.id} label="Copy the account id" />
              </Group>
            </Fact>
            <Fact label="Created">
              <DateTime at={data.created_at} />
            </Fact>
          </Stack>
        )}
      </QueryView>
    </Panel>
  );
}

type FactProps = { readonly label: string; readonly description?: string; readonly children: ReactNode };

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
    onSuccess: () => showDone(message),
  });
}

function NameForm({ settings }: Props) {
  const update = useUpdate('The account is renamed.');
  const form = useForm({
    initialValues: { name: settings.name },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(form, (body) => update.mutateAsync({ body }), { name: 'name' });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="sm">
        <TextInput label="Name" autoComplete="off" maxLength={100} {...form.getInputProps('name')} />
        {error && <ErrorNotice error={error} />}
        <Group>
          <Button type="submit" variant="default" loading={isSubmitting} disabled={form.values.name.trim() === settings.name}>
            Save the name
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Retention({ settings }: Props) {
  const update = useUpdate('Changed. It holds within seconds.');
  const set = (isKept: boolean) => update.mutateAsync({ body: { retain_responses: isKept } });
  const ask = (isKept: boolean) => {
    if (isKept) {
      set(true).catch(showError);
      return;
    }
    confirm({
      title: 'Keep no answers?',
      text: 'What is kept now is erased. A retry under an Idempotency-Key gets no second copy of its answer, and nothing comes from the cache.',
      action: 'Keep none, erase',
      danger: true,
      run: () => set(false),
    });
  };
  return (
    <Switch
      label="Keep answers"
      description={retentionText}
      checked={settings.retain_responses}
      disabled={update.isPending}
      onChange={(event) => ask(event.currentTarget.checked)}
    />
  );
}
