import { Badge, Group, Text, Tooltip } from '@mantine/core';
import { IconCalendarDollar } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { ChatModel } from '../../../src/dashboard-contract/models.ts';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { Money } from '../../parts/money.tsx';
import { countText, shortCountText } from '../../parts/number-text.ts';
import { dayText } from '../../parts/time-text.ts';
import { AbilityList } from './ability-list.tsx';
import { CopyId, ModelName } from './model-name.tsx';

type Props = {
  readonly models: readonly ChatModel[];
  readonly onOpen: (id: string) => void;
  readonly empty: ReactNode;
};

export function ChatModels({ models, onOpen, empty }: Props) {
  return (
    <DataTable
      label="Language models"
      rows={models}
      columns={columns}
      rowKey={({ id }) => id}
      onOpen={({ id }) => onOpen(id)}
      empty={empty}
    />
  );
}

const columns: readonly Column<ChatModel>[] = [
  {
    title: 'Model',
    value: ({ name }) => name,
    phone: 'title',
    render: (model) => <ModelName model={model} />,
  },
  { title: '', width: 44, phone: 'hidden', render: ({ id }) => <CopyId id={id} /> },
  { title: 'Abilities', render: (model) => <AbilityList model={model} /> },
  {
    title: 'Context',
    value: ({ context_tokens: tokens }) => tokens,
    align: 'right',
    render: ({ context_tokens: tokens }) => <Tokens count={tokens} />,
  },
  {
    title: 'Input',
    kind: 'money',
    value: ({ price }) => price?.base.input_micros,
    align: 'right',
    render: (model) => <Price model={model} micros={model.price?.base.input_micros} showsMarks />,
  },
  {
    title: 'Cached input',
    kind: 'money',
    value: ({ price }) => price?.base.cache_read_micros,
    align: 'right',
    phone: 'hidden',
    render: ({ price }) => <Money micros={price?.base.cache_read_micros} />,
  },
  {
    title: 'Output',
    kind: 'money',
    value: ({ price }) => price?.base.output_micros,
    align: 'right',
    render: (model) => <Price model={model} micros={model.price?.base.output_micros} />,
  },
];

function Tokens({ count }: { readonly count: number }) {
  return (
    <Text span inherit title={`${countText(count)} tokens`}>
      {shortCountText(count)}
    </Text>
  );
}

/** The base price, with marks for price tiers and scheduled changes. */
function Price({
  model,
  micros,
  showsMarks = false,
}: {
  model: ChatModel;
  micros: number | undefined;
  showsMarks?: boolean;
}) {
  const next = model.scheduled_prices[0];
  return (
    <Group component="span" display="inline-flex" gap={4} wrap="nowrap" justify="flex-end">
      {showsMarks && next && (
        <Tooltip label={`The price changes on ${dayText(next.effective_at!)}`}>
          <IconCalendarDollar
            size={15}
            stroke={1.6}
            role="img"
            aria-label="Price change scheduled"
          />
        </Tooltip>
      )}
      {showsMarks && model.price && model.price.tiers.length > 0 && (
        <Tooltip
          label={`Other prices above ${shortCountText(model.price.tiers[0]!.above_input_tokens)} input tokens`}
        >
          <Badge size="xs" color="gray" component="span">
            tiers
          </Badge>
        </Tooltip>
      )}
      <Money micros={micros} />
    </Group>
  );
}
