// Switches a provider or model off and on again, and removes what is saved for it.
import { Button, Group, Text } from '@mantine/core';
import { confirm } from '../../../parts/confirm.tsx';
import type { Section } from './schema.ts';
import { lockOf, savedAt, type Save, type Saved } from './use-saved.ts';

const words = {
  providers: {
    off: { field: 'enabled', value: false },
    offText:
      'It drains: running requests end, and new ones go to other providers of the model, or are refused if there is none.',
    removeText: 'Its saved settings and its credential are removed. Running requests end.',
  },
  models: {
    off: { field: 'ended', value: true },
    offText: 'Running requests end. New ones get a 404 that names its successor, if it has one.',
    removeText:
      'A built-in model goes back to its own prices and routes; another one is no longer sold.',
  },
} as const;

type Props = {
  readonly section: Section;
  readonly name: string;
  readonly isOn: boolean;
  readonly saved: Saved;
  readonly save: Save;
  readonly onClose: () => void;
};

export function EntryActions({ section, name, isOn, saved, save, onClose }: Props) {
  const { off, offText, removeText } = words[section === 'providers' ? section : 'models'];
  const entry = [section, name];
  const path = [...entry, off.field];
  const lock = lockOf(saved, path);
  const isSwitchedOff = savedAt(saved, path) === off.value;
  const isSaved =
    savedAt(saved, entry) !== undefined ||
    saved.credentials.some(({ path: at }) => entry.every((part, index) => part === at[index]));
  const ask = (action: string, text: string, change: () => Promise<void>) =>
    confirm({
      title: `${action} ${name}?`,
      text,
      action,
      danger: action !== 'Switch on',
      run: change,
    });
  const switchOn = () =>
    ask('Switch on', 'New requests use it within two seconds.', () =>
      save([{ path }], `switched ${name} on`),
    );
  const switchOff = () =>
    ask('Switch off', offText, () => save([{ path, value: off.value }], `switched ${name} off`));
  const remove = () =>
    ask(
      'Remove',
      `${removeText} An earlier version can be restored in the configuration.`,
      async () => {
        await save([{ path: entry }], `removed what was saved for ${name}`);
        onClose();
      },
    );
  return (
    <Group gap="sm">
      {(isOn || isSwitchedOff) && (
        <Button
          variant="default"
          disabled={lock !== null}
          onClick={isSwitchedOff ? switchOn : switchOff}
        >
          {isSwitchedOff ? 'Switch on…' : 'Switch off…'}
        </Button>
      )}
      {isSaved && (
        <Button variant="light" color="red" onClick={remove}>
          Remove…
        </Button>
      )}
      {lock !== null && (
        <Text size="sm" c="dimmed">
          Switched on or off by {lock}.
        </Text>
      )}
    </Group>
  );
}
