// Prompts that this browser keeps under a name: the message with its system prompt, tools and schema.
import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useAccount } from '../../../api/account.ts';
import { useUser } from '../../../api/session.ts';
import { emptyDraft, type Draft } from './draft.ts';

type Saved = { readonly name: string; readonly text: string; readonly draft: Draft };

const promptsMax = 50;

type Props = {
  readonly text: string;
  readonly draft: Draft;
  readonly onChoose: (prompt: Pick<Saved, 'text' | 'draft'>) => void;
};

export function SavedPrompts({ text, draft, onChoose }: Props) {
  const [saved, setSaved] = useLocalStorage<readonly Saved[]>({
    key: `tollgate.playground.prompts.${useUser().id}.${useAccount().id}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const [name, setName] = useState('');
  const [isOpen, setOpen] = useState(false);
  const save = () => {
    const others = saved.filter((one) => one.name !== name.trim());
    setSaved([...others, { name: name.trim(), text, draft }].slice(-promptsMax));
    setName('');
  };
  return (
    <Popover position="top-start" width={300} opened={isOpen} onChange={setOpen} trapFocus>
      <Popover.Target>
        <Tooltip label="Saved prompts">
          <ActionIcon size="lg" aria-label="Saved prompts" onClick={() => setOpen(!isOpen)}>
            <IconBookmark size={18} stroke={1.6} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown aria-label="Saved prompts">
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
                  onChoose({ text: one.text, draft: { ...emptyDraft, ...one.draft } });
                  setOpen(false);
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
          <Group gap="xs" wrap="nowrap">
            <TextInput
              aria-label="Name of this prompt"
              placeholder="Name"
              maxLength={60}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              onKeyDown={(event) => event.key === 'Enter' && name.trim() !== '' && save()}
              flex={1}
            />
            <Button onClick={save} disabled={name.trim() === ''}>
              Save
            </Button>
          </Group>
          <Text size="xs" c="dimmed">
            Saves the message, system prompt, tools and settings in this browser, without files.
          </Text>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
