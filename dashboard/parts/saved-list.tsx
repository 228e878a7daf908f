// Values that this browser keeps under names: a popover with the names, and a field to save another.
import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { isEnter } from './is-enter.ts';

type Saved<Value> = Value & { readonly name: string };

/** The oldest are dropped beyond that. */
const savedMax = 50;

type Props<Value> = {
  /** Where the browser keeps them. */
  readonly storageKey: string;
  /** Names the list. */
  readonly label: string;
  /** Names the field for another name. */
  readonly nameLabel: string;
  /** null: there is nothing to save. */
  readonly current: Value | null;
  readonly onChoose: (value: Value) => void;
  /** The button that opens the list. */
  readonly opener: (toggle: () => void) => ReactNode;
  readonly position: 'top-start' | 'bottom-end';
  readonly note?: string;
};

/** Nothing is shown when none is saved and there is nothing to save. */
export function SavedList<Value extends object>(props: Props<Value>) {
  const { storageKey, label, nameLabel, current, onChoose, opener, position, note } = props;
  const [saved, setSaved] = useLocalStorage<readonly Saved<Value>[]>({
    key: storageKey,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const [name, setName] = useState('');
  const [isOpen, setOpen] = useState(false);
  if (saved.length === 0 && !current) return null;
  const trimmed = name.trim();
  const without = (dropped: string) => saved.filter((one) => one.name !== dropped);
  const save = () => {
    if (!current || trimmed === '') return;
    setSaved([...without(trimmed), { ...current, name: trimmed }].slice(-savedMax));
    setName('');
  };
  return (
    <Popover position={position} width={300} opened={isOpen} onChange={setOpen} trapFocus>
      <Popover.Target>{opener(() => setOpen(!isOpen))}</Popover.Target>
      <Popover.Dropdown aria-label={label}>
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
                  onChoose(one);
                  setOpen(false);
                }}
              >
                {one.name}
              </Button>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Delete ${one.name}`}
                onClick={() => setSaved(without(one.name))}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            </Group>
          ))}
          {current && (
            <Group gap="xs" wrap="nowrap">
              <TextInput
                aria-label={nameLabel}
                placeholder="Name"
                maxLength={60}
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
                onKeyDown={(event) => isEnter(event) && save()}
                flex={1}
              />
              <Button onClick={save} disabled={trimmed === ''}>
                Save
              </Button>
            </Group>
          )}
          {note && (
            <Text size="xs" c="dimmed">
              {note}
            </Text>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
