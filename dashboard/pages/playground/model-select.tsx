import { Group, Select, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AnyModel } from '../../../src/management/contract/models.ts';
import { EndBadge } from '../../parts/end-badge.tsx';
import { vendorName } from '../../parts/model-text.ts';

type Model = Pick<AnyModel, 'id' | 'name' | 'vendor' | 'retires_at' | 'successor'>;

type Props<M extends Model> = {
  readonly label?: string;
  /** Only screen readers get the label. */
  readonly isLabelHidden?: boolean;
  readonly choices: readonly M[];
  readonly model: M | null;
  readonly setModel: (id: string) => void;
  /** Text to the right of a name: the price. */
  readonly hint: (model: M) => ReactNode;
};

/** Select field for a model, grouped by vendor and searchable. */
export function ModelSelect<M extends Model>({
  label = 'Model',
  isLabelHidden = false,
  choices,
  model,
  setModel,
  hint,
}: Props<M>) {
  const byId = new Map(choices.map((each) => [each.id, each]));
  const vendors = [...new Set(choices.map(({ vendor }) => vendor))];
  return (
    <Select
      label={isLabelHidden ? undefined : label}
      aria-label={isLabelHidden ? label : undefined}
      data={vendors.map((vendor) => ({
        group: vendorName(vendor),
        items: choices
          .filter((each) => each.vendor === vendor)
          .map(({ id, name }) => ({ value: id, label: name })),
      }))}
      value={model?.id ?? null}
      onChange={(id) => id !== null && setModel(id)}
      allowDeselect={false}
      searchable
      maxDropdownHeight={360}
      nothingFoundMessage="No matching models"
      placeholder={choices.length === 0 ? 'No model available' : undefined}
      error={choices.length === 0 ? 'This key cannot use any model now.' : undefined}
      renderOption={({ option }) => (
        <Group justify="space-between" wrap="nowrap" gap="xs" w="100%">
          <Text size="sm" truncate>
            {option.label}
          </Text>
          {byId.has(option.value) && <EndBadge model={byId.get(option.value)!} />}
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {byId.has(option.value) && hint(byId.get(option.value)!)}
          </Text>
        </Group>
      )}
    />
  );
}
