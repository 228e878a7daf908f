// The account's name, and whether its answers are kept. Owners change them, others read.
import { Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useIsAtLeast } from '../../app/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showDone, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { checkName } from '../sign-in/fields.ts';

type Settings = Output<'GET /accounts/:account/settings'>;

export function AccountPanel() {
  const settings = useApi('GET /accounts/:account/settings', {});
  const isOwner = useIsAtLeast('owner');
  return (
    <Panel title="Account" description={isOwner ? undefined : 'Only an owner changes these.'}>
      <QueryView query={settings}>
        {(data) => (
          <Stack gap="lg" maw={520}>
            <NameForm key={data.name} settings={data} isOwner={isOwner} />
            <Retention settings={data} isOwner={isOwner} />
          </Stack>
        )}
      </QueryView>
    </Panel>
  );
}

type Props = { readonly settings: Settings; readonly isOwner: boolean };

function useUpdate(message: string) {
  return useChange('PATCH /accounts/:account/settings', {
    invalidates: ['GET /accounts/:account/settings', 'GET /session'],
    onSuccess: () => showDone(message),
  });
}

function NameForm({ settings, isOwner }: Props) {
  const update = useUpdate('The account is renamed.');
  const form = useForm({ initialValues: { name: settings.name }, validate: { name: checkName } });
  const { onSubmit, error, isSubmitting } = useFormSubmit(form, (body) => update.mutateAsync({ body }), { name: 'name' });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Group align="flex-end" gap="sm" wrap="nowrap">
        <TextInput label="Account name" flex={1} readOnly={!isOwner} {...form.getInputProps('name')} />
        {isOwner && (
          <Button type="submit" variant="default" loading={isSubmitting} disabled={form.values.name.trim() === settings.name}>
            Save
          </Button>
        )}
      </Group>
      {error && <ErrorNotice error={error} />}
    </form>
  );
}

function Retention({ settings, isOwner }: Props) {
  const update = useUpdate('Changed; the gateway follows within seconds.');
  const set = (isKept: boolean) => update.mutateAsync({ body: { retain_responses: isKept } });
  const ask = (isKept: boolean) => {
    if (isKept) void set(true).catch(showError);
    else {
      confirm({
        title: 'Keep no answers?',
        text: 'What is cached or kept for replay is erased, and retries under an Idempotency-Key get no second copy.',
        action: 'Keep no answers',
        danger: true,
        run: () => set(false),
      });
    }
  };
  return (
    <Switch
      label="Keep answers"
      description="For replays under an Idempotency-Key and in the cache, encrypted. Off: nothing of them is stored."
      checked={settings.retain_responses}
      disabled={!isOwner || update.isPending}
      onChange={(event) => ask(event.currentTarget.checked)}
    />
  );
}
