import { Badge, Text } from '@mantine/core';
import type { RequestRecord } from '../../../src/management/contract/requests.ts';
import { CutText } from '../../parts/cut-text.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Money } from '../../parts/money.tsx';
import { countText, durationText } from '../../parts/number-text.ts';
import { DateTime } from '../../parts/time-ago.tsx';
import { endpointName, finishName, outcomeNames, type Sort } from './request-filters.ts';

type RequestColumn = Column<RequestRecord, Sort> & { readonly id: string };

export const columns: readonly RequestColumn[] = [
  {
    id: 'time',
    title: 'Time',
    kind: 'time',
    render: ({ created_at: at }) => <DateTime at={at} short />,
  },
  {
    id: 'status',
    title: 'Status',
    render: (record) => <StatusBadge record={record} />,
  },
  {
    id: 'model',
    title: 'Model',
    phone: 'title',
    render: ({ model }) =>
      model ? <CutText text={model.name} /> : <CutText c="dimmed" text="No model" />,
  },
  {
    id: 'endpoint',
    title: 'Endpoint',
    phone: 'hidden',
    render: ({ endpoint }) => <CutText text={endpointName(endpoint)} />,
  },
  {
    id: 'key',
    title: 'Key',
    phone: 'hidden',
    render: ({ key }) => <CutText text={key.name || 'Unnamed'} />,
  },
  {
    id: 'tags',
    title: 'Tags',
    phone: 'hidden',
    render: ({ tags }) => (tags.length === 0 ? '–' : <CutText text={tags.join(', ')} />),
  },
  {
    id: 'client',
    title: 'Client',
    phone: 'hidden',
    render: ({ client }) => (client === null ? '–' : <CutText text={client} />),
  },
  {
    id: 'usage',
    title: 'Usage',
    align: 'right',
    phone: 'hidden',
    tablet: 'hidden',
    render: (record) => (
      <Text span inherit style={{ whiteSpace: 'nowrap' }}>
        {usageText(record)}
      </Text>
    ),
  },
  {
    id: 'first-token',
    title: 'First token',
    align: 'right',
    phone: 'hidden',
    tablet: 'hidden',
    sort: 'first-token',
    render: ({ first_token_ms: ms }) => (ms === null ? '–' : durationText(ms)),
  },
  {
    id: 'duration',
    title: 'Duration',
    align: 'right',
    phone: 'hidden',
    sort: 'duration',
    render: ({ duration_ms: ms }) => (ms === null ? '–' : durationText(ms)),
  },
  {
    id: 'finish',
    title: 'Finish',
    phone: 'hidden',
    render: ({ finish }) => (finish === null ? '–' : finishName(finish)),
  },
  {
    id: 'cost',
    title: 'Cost',
    kind: 'money',
    value: ({ cost_micros: micros }) => micros,
    sort: 'cost',
    render: ({ cost_micros: micros, outcome }) =>
      outcome === 'complete' || outcome === 'cut-off' ? <Money micros={micros} /> : 'Free',
  },
];

export const defaultColumns: readonly string[] = columns
  .map(({ id }) => id)
  .filter((id) => !['endpoint', 'finish', 'tags', 'client'].includes(id));

const colors = {
  complete: 'green',
  'cut-off': 'orange',
  cached: 'blue',
  replayed: 'blue',
} as const;

/** The outcome; of a failed request, its HTTP status and code. */
export function StatusBadge({
  record: { outcome, status, code },
}: {
  readonly record: Pick<RequestRecord, 'outcome' | 'status' | 'code'>;
}) {
  const color = outcome === 'failed' ? (status >= 500 ? 'red' : 'orange') : colors[outcome];
  return (
    <Badge component="span" size="sm" color={color} tt="none" maw="none">
      {outcome === 'failed' ? `${status} ${code ?? ''}` : outcomeNames[outcome]}
    </Badge>
  );
}

/** Tokens, images or searches. */
export function usageText({
  images,
  web_searches: searches,
  input_tokens: input,
  output_tokens: output,
}: RequestRecord): string {
  if (images > 0) return `${countText(images)} ${images === 1 ? 'image' : 'images'}`;
  if (searches > 0 && output === 0)
    return `${countText(searches)} ${searches === 1 ? 'search' : 'searches'}`;
  return input + output === 0 ? '–' : `${countText(input)} → ${countText(output)}`;
}
