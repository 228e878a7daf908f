import { Badge, Box, Group, Tooltip } from '@mantine/core';
import type { AnyModel } from '../../../src/management/contract/models.ts';
import { useSession } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { vendorName } from '../../parts/model-text.ts';
import { CutText } from '../../parts/cut-text.tsx';
import { EndBadge } from '../../parts/end-badge.tsx';
import { curlLine } from './one-line.ts';

type Model = Pick<
  AnyModel,
  'id' | 'name' | 'is_live' | 'retires_at' | 'successor' | 'multiplier_ppm'
>;

/** A model's name, with its id below. */
export function ModelName({ model }: { readonly model: Model }) {
  return (
    <Box component="span" display="block" ta="left">
      <Group component="span" display="inline-flex" gap="0 6px">
        <CutText fw={500} text={model.name} />
        {!model.is_live && <NotLive />}
        <EndBadge model={model} />
        <PriceBadge multiplierPpm={model.multiplier_ppm} />
      </Group>
      <CutText block size="sm" c="dimmed" ff="monospace" text={model.id} />
    </Box>
  );
}

/** The first columns of a table of models. */
export const nameColumns: readonly Column<AnyModel>[] = [
  {
    title: 'Model',
    value: ({ name }) => name,
    phone: 'title',
    render: (model) => <ModelName model={model} />,
  },
  { title: 'Code', width: 44, render: (model) => <CopyCode model={model} /> },
  { title: 'Vendor', value: ({ vendor }) => vendorName(vendor) },
];

/** Copies a request to the model. Needs a column of its own: the name's column is already a button. */
export function CopyCode({ model }: { readonly model: AnyModel }) {
  const { public_url: baseUrl } = useSession().features;
  return <CopyButton text={curlLine(model, baseUrl)} label={`Copy a request to ${model.name}`} />;
}

export function NotLive() {
  return (
    <Tooltip label="No provider of this model is switched on. Test keys can use it.">
      <Badge color="gray" size="sm">
        Test only
      </Badge>
    </Tooltip>
  );
}

const listPricePpm = 1_000_000;

/** Marks a model for which the account does not pay the list price. */
export function PriceBadge({ multiplierPpm }: { readonly multiplierPpm: number }) {
  if (multiplierPpm === listPricePpm) return null;
  const percent = (multiplierPpm - listPricePpm) / 10_000;
  const amount = `${Math.abs(percent).toLocaleString(undefined, { maximumFractionDigits: 2 })}%`;
  return (
    <Tooltip
      label={`This account pays ${amount} ${percent < 0 ? 'less' : 'more'} than the list price. The prices shown include this.`}
    >
      <Badge color={percent < 0 ? 'green' : 'orange'} size="sm">
        {percent < 0 ? '−' : '+'}
        {amount}
      </Badge>
    </Tooltip>
  );
}
