import { Badge, Button, Center, Checkbox, Group, Text, Tooltip } from '@mantine/core';
import { IconCalendarDollar } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import type { ChatModel, MeasuredModel } from '../../../src/management/contract/models.ts';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { Money } from '../../parts/money.tsx';
import { countText, shortCountText } from '../../parts/number-text.ts';
import { useIsPhone } from '../../parts/screen.ts';
import { dayText } from '../../parts/time-text.ts';
import { AbilityList } from './ability-list.tsx';
import { comparedMax } from './comparison.ts';
import { speedText, uptimeText, type Measurements } from './measured.ts';
import { CopyCode, ModelName } from './model-name.tsx';
import { PhoneModels } from './phone-models.tsx';

type Props = {
  readonly models: readonly ChatModel[];
  readonly measured: Measurements;
  readonly onOpen: (id: string) => void;
  /** Ids of the models to compare. */
  readonly compared: readonly string[];
  readonly onToggleCompared: (id: string) => void;
  readonly empty: ReactNode;
};

/** Models shown before the reader asks for all: a long page is hard to scroll on a phone. */
const shownFirst = 30;

export function ChatModels(props: Props) {
  const { models, measured, onOpen, compared, onToggleCompared, empty } = props;
  const isPhone = useIsPhone();
  const [showsAll, setShowsAll] = useState(false);
  const rowsMax = showsAll ? models.length : shownFirst;
  const checkbox = ({ id, name }: ChatModel) => (
    <Checkbox
      aria-label={`Compare ${name}`}
      checked={compared.includes(id)}
      disabled={compared.length >= comparedMax && !compared.includes(id)}
      onChange={() => onToggleCompared(id)}
    />
  );
  return (
    <>
      {isPhone && models.length > 0 ? (
        <PhoneModels models={models.slice(0, rowsMax)} onOpen={onOpen} checkbox={checkbox} />
      ) : (
        <DataTable
          label="Language models"
          rows={models}
          rowsMax={rowsMax}
          columns={[
            modelColumn,
            { title: 'Compare', width: 44, render: checkbox },
            {
              title: 'Code',
              width: 44,
              tablet: 'hidden',
              render: (model) => <CopyCode model={model} />,
            },
            ...columns,
            // A desktop has room for one of them; the model's details have both.
            ...(models.some(({ id }) => measured.has(id))
              ? measuredColumns(measured)
              : [cachedInputColumn]),
          ]}
          rowKey={({ id }) => id}
          onOpen={({ id }) => onOpen(id)}
          empty={empty}
          dense
        />
      )}
      {rowsMax < models.length && (
        <Center p="md">
          <Button variant="default" onClick={() => setShowsAll(true)}>
            Show all {countText(models.length)} models
          </Button>
        </Center>
      )}
    </>
  );
}

const modelColumn: Column<ChatModel> = {
  title: 'Model',
  value: ({ name }) => name,
  render: (model) => <ModelName model={model} />,
};

const cachedInputColumn: Column<ChatModel> = {
  title: 'Cached input',
  kind: 'money',
  value: ({ price }) => price?.base.cache_read_micros,
};

/** The account's own measurements. */
function measuredColumns(measured: Measurements): readonly Column<ChatModel>[] {
  const column = (
    title: string,
    textOf: (model: MeasuredModel) => string | null,
    valueOf: (model: MeasuredModel) => number | null,
  ) => ({
    title,
    tablet: 'hidden' as const,
    value: ({ id }: ChatModel) => {
      const known = measured.get(id);
      return known && valueOf(known);
    },
    align: 'right' as const,
    render: ({ id }: ChatModel) => {
      const known = measured.get(id);
      return (
        <Text span inherit style={{ whiteSpace: 'nowrap' }}>
          {(known && textOf(known)) ?? '–'}
        </Text>
      );
    },
  });
  return [
    column('Speed', speedText, ({ tokens_per_second: speed }) => speed),
    column('Uptime', uptimeText, ({ answered, failed }) => answered / (answered + failed)),
  ];
}

const columns: readonly Column<ChatModel>[] = [
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
    render: (model) => <Price model={model} micros={model.price?.base.input_micros} showsMarks />,
  },
  {
    title: 'Output',
    kind: 'money',
    value: ({ price }) => price?.base.output_micros,
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
