// Filters that this browser keeps under a name.
import { ActionIcon, Button, Group, Popover, Stack, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { Search } from '../../parts/url-state.ts';
import type { Filters } from './request-filters.ts';

type Saved = { readonly name: string; readonly filters: Filters };

type Props = { readonly filters: Filters; readonly setFilters: (patch: Search) => void };

export function SavedFilters({ filters, setFilters }: Props) {
  const [saved, setSaved] = useLocalStorage<readonly Saved[]>({
    key: 'tollgate.requests.filters',
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const [name, setName] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  if (saved.length === 0 && !isFiltered) return null;
  const save = () => {
    const trimmed = name.trim();
    if (trimmed === '') return;
    setSaved([...saved.filter((one) => one.name !== trimmed), { name: trimmed, filters }]);
    setName('');
  };
  return (
    <Popover position="bottom-end" width={280} opened={isOpen} onChange={setIsOpen}>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconBookmark size={16} aria-hidden />}
          onClick={() => setIsOpen(!isOpen)}
        >
          Saved filters
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Saved filters">
        <Stack gap="xs">
          {saved.map((one) => (
            <Group key={one.name} gap={4} wrap="nowrap">
              <Button
                variant="subtle"
                color="gray"
                justify="start"
                flex={1}
                miw={0}
                onClick={() => {
                  const { hour, ...others } = one.filters;
                  setFilters({ ...cleared, ...others, hour: hour?.toString() });
                  setIsOpen(false);
                }}
              >
                {one.name}
              </Button>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Delete ${one.name}`}
                onClick={() => setSaved(saved.filter(({ name: other }) => other !== one.name))}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            </Group>
          ))}
          {isFiltered && (
            <Group gap="xs" wrap="nowrap">
              <TextInput
                aria-label="Name of the current filters"
                placeholder="Name"
                maxLength={60}
                value={name}
                onChange={({ currentTarget: { value } }) => setName(value)}
                flex={1}
              />
              <Button onClick={save} disabled={name.trim() === ''}>
                Save
              </Button>
            </Group>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

const cleared: Search = {
  key: undefined,
  model: undefined,
  endpoint: undefined,
  outcome: undefined,
  code: undefined,
  tag: undefined,
  provider: undefined,
  member: undefined,
  hour: undefined,
  from: undefined,
  to: undefined,
};
