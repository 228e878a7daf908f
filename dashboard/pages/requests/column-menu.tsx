import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { IconColumns } from '@tabler/icons-react';

type Props = {
  readonly columns: readonly { readonly id: string; readonly title: string }[];
  /** Ids of the shown columns. */
  readonly chosen: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
};

/** Chooses the columns of a table. The time always stays. */
export function ColumnMenu({ columns, chosen, onChange }: Props) {
  const choices = columns.filter(({ id }) => id !== 'time');
  return (
    <Popover position="bottom-end" withinPortal>
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconColumns size={16} aria-hidden />}
          visibleFrom="sm"
        >
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" role="group" aria-label="Columns">
          {choices.map(({ id, title }) => (
            <Checkbox
              key={id}
              label={title}
              checked={chosen.includes(id)}
              onChange={({ currentTarget: { checked } }) =>
                onChange(checked ? [...chosen, id] : chosen.filter((one) => one !== id))
              }
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
