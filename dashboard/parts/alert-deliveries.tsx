import { Badge, Button, Text } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import type { Output } from '../api/client.ts';
import { useApiPages, useChange } from '../api/use-api.ts';
import { type AlertEndpoint, alertReads, type AlertsOf } from './alerts-of.ts';
import { CutText } from './cut-text.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { showError, showSuccess } from './notify.ts';
import { TimeAgo } from './time-ago.tsx';

type Delivery = Output<'GET /accounts/:account/alert-deliveries'>['data'][number];
type Props = { readonly of: AlertsOf; readonly endpoints: readonly AlertEndpoint[] };

/** Deliveries under way end within seconds. */
const refetchMs = 5_000;

export function AlertDeliveries({ of, endpoints }: Props) {
  const { below, params } = of;
  const key = `GET ${below}/accounts/:account/alert-deliveries` as const;
  const pages = useApiPages(key, { params }, refetchMs);
  const addresses = new Map(endpoints.map(({ id, address }) => [id, address]));
  return (
    <DataTable
      label="Deliveries"
      pages={pages}
      columns={columnsOf(of, addresses)}
      rowKey={(delivery) => delivery.id}
      empty={
        <EmptyState
          icon={IconSend}
          title="No deliveries yet"
          text="What is sent to the endpoints is listed here."
        />
      }
    />
  );
}

function columnsOf(
  of: AlertsOf,
  addresses: ReadonlyMap<string, string>,
): readonly Column<Delivery>[] {
  return [
    {
      title: 'Event',
      phone: 'title',
      render: ({ type, sentence, event_id: id }) => (
        <>
          <Text inherit fw={500}>
            {type}
          </Text>
          <Text size="sm" maw={420} style={{ overflowWrap: 'anywhere' }}>
            {sentence}
          </Text>
          <Text size="xs" c="dimmed" ff="monospace">
            {id}
          </Text>
        </>
      ),
    },
    {
      title: 'To',
      render: ({ endpoint_id: id }) => <CutText size="sm" text={addresses.get(id) ?? id} />,
    },
    { title: 'Result', render: (row) => <Result row={row} /> },
    { title: 'Happened', kind: 'ago', render: ({ created_at: at }) => <TimeAgo at={at} /> },
    { title: '', width: 110, render: (row) => <SendAgain {...{ of, row }} /> },
  ];
}

function Result({ row }: { readonly row: Delivery }) {
  const { delivered_at: deliveredAt, next_at: nextAt, attempts, problem } = row;
  const [label, color] =
    nextAt !== null
      ? [attempts === 0 ? 'Sending' : 'Retrying', 'orange']
      : deliveredAt !== null
        ? ['Delivered', 'green']
        : ['Failed', 'red'];
  return (
    <>
      <Badge color={color}>{label}</Badge>
      {problem !== null && (
        <Text size="xs" c="dimmed" maw={220}>
          {problem}
        </Text>
      )}
    </>
  );
}

function SendAgain({ of, row }: { readonly of: AlertsOf; readonly row: Delivery }) {
  const send = useChange(`POST ${of.below}/accounts/:account/alert-deliveries/:delivery/again`, {
    invalidates: alertReads(of),
  });
  const params = { ...of.params, delivery: row.id };
  return (
    <Button
      variant="default"
      size="xs"
      loading={send.isPending}
      aria-label={`Send again: ${row.type}, ${row.event_id}`}
      onClick={() =>
        void send
          .mutateAsync({ params })
          .then(() => showSuccess('The event is sent again, under its id.'))
          .catch(showError)
      }
    >
      Send again
    </Button>
  );
}
