// Models that do not answer conversations, such as embedding models.
import type { ReactNode } from 'react';
import type { OtherModel } from '../../../src/management/contract/models.ts';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { otherTypeNames, unitPriceText } from '../../parts/model-text.ts';
import { Money } from '../../parts/money.tsx';
import { countText, shortCountText } from '../../parts/number-text.ts';
import { nameColumns } from './model-name.tsx';

type Props = {
  readonly models: readonly OtherModel[];
  readonly onOpen: (id: string) => void;
  readonly empty: ReactNode;
};

export function OtherModels({ models, onOpen, empty }: Props) {
  return (
    <DataTable
      label="Other models"
      rows={models}
      columns={columns}
      rowKey={({ id }) => id}
      onOpen={({ id }) => onOpen(id)}
      empty={empty}
    />
  );
}

/** `1,536`, or `128 to 3,072`. */
export function sizesText(dimensions: OtherModel['dimensions']): string {
  if (!dimensions) return '–';
  const { min, max } = dimensions;
  return min === max ? countText(max) : `${countText(min)} to ${countText(max)}`;
}

const columns: readonly Column<OtherModel>[] = [
  ...nameColumns,
  { title: 'Type', value: ({ type }) => otherTypeNames[type] },
  {
    title: 'Max input',
    value: ({ max_input_tokens: tokens }) => tokens,
    align: 'right',
    render: ({ max_input_tokens: tokens }) => shortCountText(tokens),
  },
  {
    title: 'Dimensions',
    value: ({ dimensions }) => dimensions?.max,
    align: 'right',
    render: ({ dimensions }) => sizesText(dimensions),
  },
  {
    title: 'Input price',
    value: ({ price }) => price?.base.input_micros,
    align: 'right',
    render: ({ type, price }) => {
      if (!price) return 'No price';
      const { unit_micros: unit, base } = price;
      return unit === undefined ? <Money micros={base.input_micros} /> : unitPriceText(type, unit);
    },
  },
];
