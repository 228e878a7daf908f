// The account's name and its storage of answers. Only owners can change them.
import {
  Button,
  Code,
  Group,
  SimpleGrid,
  Input,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showSuccess, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { DateTime } from '../../parts/time-ago.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';

type Settings = Output<'GET /accounts/:account/settings'>;
type Props = { readonly settings: Settings };

const retentionText =
  'Answers are stored encrypted. A retry with the same Idempotency-Key gets the same answer, and repeated requests can be answered from the cache.';

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
              <NameForm key={data.name} settings={data} />
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

function NameForm({ settings }: Props) {
  const update = useUpdate('Account renamed.');
  const form = useForm({
    initialValues: { name: settings.name },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    (body) => update.mutateAsync({ body }),
    { name: 'name' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="sm">
        <TextInput
          label="Name"
          autoComplete="off"
          maxLength={100}
          {...form.getInputProps('name')}
        />
        {error && <ErrorNotice error={error} />}
        <Group>
          <Button
            type="submit"
            variant="default"
            loading={isSubmitting}
            disabled={form.values.name.trim() === settings.name}
          >
            Save name
          </Button>
        </Group>
      </Stack>
    </form>
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
