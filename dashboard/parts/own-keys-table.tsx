import { Badge, Group, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Output } from '../api/client.ts';
import { CutText } from './cut-text.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { usdText } from './money-text.ts';
import { TimeAgo } from './time-ago.tsx';

export type OwnKeys = Output<'GET /accounts/:account/own-keys'>;
export type OwnKey = OwnKeys['keys'][number];

type Props = {
  readonly keys: readonly OwnKey[];
  readonly renderActions?: (row: OwnKey) => ReactNode;
};

/** Keys of providers that an account brings. */
export function OwnKeysTable({ keys, renderActions: render }: Props) {
  return (
    <DataTable
      label="Own keys"
      rows={keys}
      columns={[...columns, ...(render ? [{ title: '', render }] : [])]}
      rowKey={({ id }) => id}
      empty={<EmptyState icon={IconKey} title="No own keys" text="None was added." />}
    />
  );
}

/** What a request with an own key costs, in a sentence. */
export function ownKeyPriceText({ percent, fee_micros: fee }: OwnKeys): string {
  const feeText = fee > 0 ? ` and ${usdText(fee)}` : '';
  return `A request that runs with such a key costs ${percent} % of the usual price${feeText} here. Its provider bills you.`;
}

/** `openai …a1b2` */
export function ownKeyName({ provider, shown_end: end }: OwnKey): string {
  return end === '' ? provider : `${provider} …${end}`;
}

/** A refusal counts until the key has answered again. */
function isRefused({ last_refused_at: refused, last_used_at: used }: OwnKey): boolean {
  return refused !== null && (used === null || refused > used);
}

const columns: readonly Column<OwnKey>[] = [
  {
    title: 'Key',
    value: ownKeyName,
    phone: 'title',
    render: (key) => (
      <>
        <Group gap="xs" wrap="nowrap">
          <CutText fw={500} text={ownKeyName(key)} />
          {isRefused(key) && (
            <Badge color="red" variant="light">
              Refused <TimeAgo inherit at={key.last_refused_at} />
            </Badge>
          )}
        </Group>
        {!key.is_usable && (
          <Text size="xs" c="red">
            Not in use: the operator has changed the provider. Add the key again.
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Called',
    value: ({ order }) => order,
    render: ({ order }) => (order === 'before' ? 'First' : 'When others fail'),
  },
  { title: 'Added', kind: 'ago', value: ({ created_at: at }) => at },
  { title: 'Last answer', kind: 'ago', value: ({ last_used_at: at }) => at, never: 'Never' },
];
