import { Badge, Group, Text } from '@mantine/core';
import type { UsageRecord } from '../../../src/dashboard-contract/usage.ts';
import type { Column } from '../../parts/data-table.tsx';
import { Money } from '../../parts/money.tsx';
import { countText, durationText } from '../../parts/number-text.ts';
import { DateTime } from '../../parts/time-ago.tsx';
import { endpointName, outcomeNames } from './usage-filters.ts';

export const columns: readonly Column<UsageRecord>[] = [
  { title: 'Time', render: ({ created_at: at }) => <DateTime at={at} /> },
  { title: 'Model', phone: 'title', render: (record) => <ModelCell record={record} /> },
  { title: 'Key', render: ({ key }) => <KeyName name={key.name} /> },
  { title: 'Usage', align: 'right', render: (record) => <UsageCell record={record} /> },
  {
    title: 'Duration',
    align: 'right',
    render: ({ duration_ms: ms }) => (ms === null ? '–' : durationText(ms)),
  },
  { title: 'Cost', align: 'right', render: (record) => <CostCell record={record} /> },
];

function ModelCell({ record: { model, endpoint } }: { readonly record: UsageRecord }) {
  return (
    <>
      <Text span inherit display="block" style={{ overflowWrap: 'anywhere' }}>
        {model.name}
      </Text>
      {endpoint !== model.id && (
        <Text span display="block" size="sm" fw={400} c="dimmed">
          {endpointName(endpoint)}
        </Text>
      )}
    </>
  );
}

function KeyName({ name }: { readonly name: string }) {
  if (name === '')
    return (
      <Text span inherit c="dimmed">
        Unnamed
      </Text>
    );
  return (
    <Text
      span
      inherit
      truncate
      display="inline-block"
      maw={180}
      title={name}
      style={{ verticalAlign: 'bottom' }}
    >
      {name}
    </Text>
  );
}

/** Tokens, images or searches that were charged. */
function UsageCell({ record }: { readonly record: UsageRecord }) {
  return (
    <Text span inherit style={{ whiteSpace: 'nowrap' }}>
      {usageText(record)}
    </Text>
  );
}

function usageText({
  images,
  web_searches: searches,
  input_tokens: input,
  output_tokens: output,
}: UsageRecord): string {
  if (images > 0) return `${countText(images)} ${images === 1 ? 'image' : 'images'}`;
  if (searches > 0 && output === 0)
    return `${countText(searches)} ${searches === 1 ? 'search' : 'searches'}`;
  return `${countText(input)} → ${countText(output)} tokens`;
}

function CostCell({ record }: { readonly record: UsageRecord }) {
  return (
    <Group component="span" display="inline-flex" gap={6} wrap="nowrap" justify="flex-end">
      {record.outcome === 'cut-off' && <OutcomeBadge outcome="cut-off" />}
      <Money micros={record.cost_micros} />
    </Group>
  );
}

export function OutcomeBadge({ outcome }: { readonly outcome: UsageRecord['outcome'] }) {
  return (
    <Badge component="span" size="sm" color={outcome === 'complete' ? 'green' : 'orange'}>
      {outcomeNames[outcome]}
    </Badge>
  );
}
