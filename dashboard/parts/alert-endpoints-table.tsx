import { Badge, Button, Group, Switch, Text } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useState } from 'react';
import { useChange } from '../api/use-api.ts';
import {
  type AlertEndpoint,
  type AlertEndpoints,
  alertKinds,
  alertReads,
  type AlertsOf,
} from './alerts-of.ts';
import { confirm } from './confirm.tsx';
import { CutText } from './cut-text.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { showError, showSuccess } from './notify.ts';

type Props = { readonly of: AlertsOf; readonly alerts: AlertEndpoints };

export function AlertEndpointsTable({ of, alerts }: Props) {
  return (
    <DataTable
      label="Endpoints"
      dense
      rows={alerts.endpoints}
      columns={[...columns, { title: '', render: (row) => <Actions {...{ of, row }} /> }]}
      rowKey={(endpoint) => endpoint.id}
      empty={
        <EmptyState
          icon={IconBell}
          title="No endpoints yet"
          text="Add a webhook, an e-mail address or Slack to hear of events."
        />
      }
    />
  );
}

const columns: readonly Column<AlertEndpoint>[] = [
  {
    title: 'Address',
    value: ({ address }) => address,
    phone: 'title',
    render: ({ kind, address, disabled_reason: reason }) => (
      <>
        <Group gap="xs" wrap="nowrap">
          <Badge color="gray" variant="light">
            {alertKinds[kind]}
          </Badge>
          <CutText
            fw={500}
            text={kind === 'email' && address === 'owners' ? 'All owners' : address}
          />
        </Group>
        {reason !== null && (
          <Text size="xs" c="red">
            Switched off: {reason}
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Events',
    value: ({ types }) => types?.length ?? Infinity,
    render: ({ types }) => (
      <Text size="sm" maw={320}>
        {types?.join(', ') ?? 'All'}
      </Text>
    ),
  },
  { title: 'Added', tablet: 'hidden', kind: 'ago', value: ({ created_at: at }) => at },
];

function Actions({ of, row }: { readonly of: AlertsOf; readonly row: AlertEndpoint }) {
  const { below } = of;
  const invalidates = alertReads(of);
  const path = `${below}/accounts/:account/alert-endpoints/:endpoint` as const;
  const update = useChange(`PATCH ${path}`, { invalidates });
  const remove = useChange(`DELETE ${path}`, { invalidates });
  const test = useChange(`POST ${path}/test`, { invalidates });
  const replace = useChange(`POST ${path}/secret`);
  const [secret, setSecret] = useState<string | null>(null);
  const params = { ...of.params, endpoint: row.id };
  const isOn = row.disabled_at === null;
  const askToRemove = () =>
    confirm({
      title: 'Remove this endpoint?',
      text: `Nothing more is sent to ${row.address}, and its deliveries are removed from the list.`,
      action: 'Remove',
      danger: true,
      run: () => remove.mutateAsync({ params }),
      done: 'Endpoint removed.',
    });
  const askForSecret = () =>
    confirm({
      title: 'Replace the secret of this webhook?',
      text: `You get a new secret for ${row.address}. For a day, the present one signs beside it.`,
      action: 'Replace',
      run: async () => setSecret((await replace.mutateAsync({ params })).secret),
    });
  const sendTest = () =>
    test
      .mutateAsync({ params })
      .then(() => showSuccess('A test event is on its way. Its delivery is listed below.'))
      .catch(showError);
  return (
    <Group gap="xs" justify="flex-end">
      <Switch
        aria-label={`Send events to ${row.address}`}
        checked={isOn}
        disabled={update.isPending}
        onChange={() =>
          void update.mutateAsync({ params, body: { enabled: !isOn } }).catch(showError)
        }
      />
      <Button
        variant="default"
        size="xs"
        disabled={!isOn}
        loading={test.isPending}
        aria-label={`Send test to ${row.address}`}
        onClick={() => void sendTest()}
      >
        Send test
      </Button>
      {row.kind === 'webhook' && (
        <Button
          variant="default"
          size="xs"
          aria-label={`New secret for ${row.address}`}
          onClick={askForSecret}
        >
          New secret…
        </Button>
      )}
      <NewKeyDialog
        created={secret === null ? null : { key: { name: row.address }, secret }}
        what="Webhook"
        verb="has a new secret"
        power="send events in the name of this service"
        onClose={() => setSecret(null)}
      />
      <Button
        variant="default"
        size="xs"
        aria-label={`Remove ${row.address}`}
        onClick={askToRemove}
      >
        Remove…
      </Button>
    </Group>
  );
}
