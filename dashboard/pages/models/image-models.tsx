import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ImageModelEntry, ImagePrices } from '../../../src/management/contract/models.ts';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { imagePriceUnit, imageUsd, imageModeNames, tierName } from '../../parts/model-text.ts';
import { nameColumns } from './model-name.tsx';

type Props = {
  readonly models: readonly ImageModelEntry[];
  readonly onOpen: (id: string) => void;
  readonly empty: ReactNode;
};

export function ImageModels({ models, onOpen, empty }: Props) {
  return (
    <DataTable
      label="Image models"
      rows={models}
      columns={columns}
      rowKey={({ id }) => id}
      onOpen={({ id }) => onOpen(id)}
      empty={empty}
    />
  );
}

const columns: readonly Column<ImageModelEntry>[] = [
  ...nameColumns,
  { title: 'Mode', value: ({ mode }) => imageModeNames[mode] },
  {
    title: 'Input images',
    value: ({ input_images: { max } }) => max,
    align: 'right',
    render: ({ input_images: { min, max } }) =>
      max === 0 ? 'none' : min === max ? max : `${min} to ${max}`,
  },
  {
    title: 'Price',
    value: ({ price }) => price && Math.min(...Object.values(price.output_micros)),
    align: 'right',
    render: ({ price }) => <ImagePrice price={price} />,
  },
];

function ImagePrice({ price }: { readonly price: ImagePrices | null }) {
  if (!price)
    return (
      <Text span inherit c="dimmed">
        No price
      </Text>
    );
  return (
    <Stack gap={0} component="span" align="flex-end">
      {Object.entries(price.output_micros).map(([tier, micros]) => (
        <Text key={tier} span inherit style={{ whiteSpace: 'nowrap' }}>
          <Text span inherit c="dimmed">
            {tierName(tier)}{' '}
          </Text>
          {imageUsd(micros)}
        </Text>
      ))}
      <Text span size="xs" c="dimmed">
        {imagePriceUnit(price)}
      </Text>
    </Stack>
  );
}
