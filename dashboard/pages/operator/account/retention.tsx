// Switches the storage of answers on or off, and erases stored answers.
import { Button, Group, Switch } from '@mantine/core';
import type { Output } from '../../../api/client.ts';
import { useChange } from '../../../api/use-api.ts';
import { confirm } from '../../../parts/confirm.tsx';
import { showSuccess, showError } from '../../../parts/notify.ts';
import { Panel } from '../../../parts/panel.tsx';

type Account = Output<'GET /operator/accounts/:account'>;

export function Retention({ account }: { readonly account: Account }) {
  const update = useChange('PATCH /operator/accounts/:account', {
    invalidates: ['GET /operator/accounts/:account', 'GET /operator/audit-log'],
  });
  const purge = useChange('POST /operator/accounts/:account/purge', {
    invalidates: ['GET /operator/audit-log'],
  });
  const params = { account: account.id };
  const setStorage = (retain_responses: boolean) =>
    update.mutateAsync({ params, body: { retain_responses } });
  const toggle = (isOn: boolean) => {
    if (isOn) return void setStorage(true).catch(showError);
    confirm({
      title: 'Stop storing answers?',
      text: 'Stored answers and kept bodies are erased. Requests are no longer cached, and a retry with an Idempotency-Key gets no stored answer.',
      action: 'Stop and erase',
      danger: true,
      run: () => setStorage(false),
    });
  };
  return (
    <Panel
      title="Stored answers"
      description="Stored encrypted: seven days for the cache, one day for retries with an Idempotency-Key, and the bodies of keys that keep them."
    >
      <Group justify="space-between">
        <Switch
          label="Store answers for the cache and for retries"
          checked={account.retain_responses}
          disabled={update.isPending}
          onChange={(event) => toggle(event.currentTarget.checked)}
        />
        <Button
          variant="light"
          color="red"
          onClick={() =>
            confirm({
              title: `Erase the stored answers of ${account.name}?`,
              text: 'Kept bodies of requests are erased too. All gateways stop serving them within seconds. New answers are still stored.',
              action: 'Erase',
              danger: true,
              run: async () => {
                const erased = await purge.mutateAsync({ params });
                showSuccess(
                  `Erased ${erased.cached_responses_erased} cached answers, ${erased.replayed_responses_erased} answers stored for retries and the kept bodies of ${erased.kept_bodies_erased} requests.`,
                );
              },
            })
          }
        >
          Erase stored answers…
        </Button>
      </Group>
    </Panel>
  );
}
