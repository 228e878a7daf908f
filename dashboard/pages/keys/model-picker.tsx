// Select field for the models that a key may use.
import { Group, MultiSelect, Text, type MultiSelectProps } from '@mantine/core';
import { useApi } from '../../api/use-api.ts';
import { modelChoices, type ModelChoice } from './model-choices.ts';

type Props = Omit<MultiSelectProps, 'data' | 'value'> & { readonly value?: readonly string[] };

export function ModelPicker({ value = [], ...input }: Props) {
  const catalogue = useApi('GET /accounts/:account/models', {});
  const choices = modelChoices(catalogue.data, value);
  const byId = new Map(choices.map((choice) => [choice.id, choice]));
  const groups = Object.entries(Object.groupBy(choices, ({ group }) => group));
  return (
    <MultiSelect
      label="Allowed models"
      description="Leave empty to allow all models, including future ones."
      placeholder={value.length === 0 ? 'All models' : undefined}
      searchable
      clearable
      hidePickedOptions
      maxDropdownHeight={280}
      limit={60}
      nothingFoundMessage={catalogue.isPending ? 'Loading…' : 'No matching models'}
      clearButtonProps={{ 'aria-label': 'Allow all models' }}
      comboboxProps={{ shadow: 'md' }}
      data={groups.map(([group, items]) => ({
        group,
        items: (items ?? []).map(({ id }) => ({ value: id, label: id })),
      }))}
      filter={({ options, search }) =>
        options.flatMap((part) => {
          if (!('items' in part)) return [];
          const items = part.items.filter(
            (item) => 'value' in item && matches(byId.get(item.value), search),
          );
          return items.length === 0 ? [] : [{ ...part, items }];
        })
      }
      renderOption={({ option }) => <Option choice={byId.get(option.value)} />}
      value={[...value]}
      {...input}
    />
  );
}

function Option({ choice }: { readonly choice: ModelChoice | undefined }) {
  if (!choice) return null;
  return (
    <Group gap="xs" justify="space-between" wrap="nowrap" w="100%">
      <div>
        <Text size="sm">{choice.id}</Text>
        {choice.note !== '' && (
          <Text size="xs" c="dimmed">
            {choice.note}
          </Text>
        )}
      </div>
      {!choice.isLive && (
        <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          test only
        </Text>
      )}
    </Group>
  );
}

function matches(choice: ModelChoice | undefined, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/);
  return choice !== undefined && words.every((word) => choice.words.includes(word));
}
