// Whether answers are kept for the account, and erasing those that are.
import { Button, Group, Switch } from '@mantine/core';
import { useChange } from '../../../api/use-api.ts';
import { confirm } from '../../../parts/confirm.tsx';
import { showDone, showError } from '../../../parts/notify.ts';
import { Panel } from '../../../parts/panel.tsx';
import type { Account } from './page.tsx';

export function Retention({ account }: { readonly account: Account }) {
  const update = useChange('PATCH /operator/accounts/:account', {
    invalidates: ['GET /operator/accounts/:account', 'GET /operator/audit-log'],
  });
  const purge = useChange('POST /operator/accounts/:account/purge', { invalidates: ['GET /operator/audit-log'] });
  const params = { account: account.id };
  const keep = (retain_responses: boolean) => update.mutateAsync({ params, body: { retain_responses } });
  const toggle = (isOn: boolean) => {
    if (isOn) return void keep(true).catch(showError);
    confirm({
      title: 'Keep no answers?',
      text: 'Answers that are kept are erased now. Requests are not cached any more, and one that is sent again under its Idempotency-Key gets no answer.',
      action: 'Keep none',
      danger: true,
      run: () => keep(false),
    });
  };
  return (
    <Panel
      title="Answers that are kept"
      description="Encrypted: in the cache for seven days, for retries under an Idempotency-Key for one."
    >
      <Group justify="space-between">
        <Switch
          label="Keep answers for the cache and for retries"
          checked={account.retain_responses}
          disabled={update.isPending}
          onChange={(event) => toggle(event.currentTarget.checked)}
        />
        <Button
          variant="light"
          color="red"
          onClick={() =>
            confirm({
              title: `Erase the answers kept for ${account.name}?`,
              text: 'No gateway serves them any more within seconds. New ones are kept as before.',
              action: 'Erase',
              danger: true,
              run: async () => {
                const { cached_responses_erased: cached, replayed_responses_erased: replayed } = await purge.mutateAsync({
                  params,
                });
                showDone(`${cached} cached answers and ${replayed} kept for retries are erased.`);
              },
            })
          }
        >
          Erase what is kept…
        </Button>
      </Group>
    </Panel>
  );
}
