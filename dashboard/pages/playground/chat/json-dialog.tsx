// Edits JSON with a check, and shows what is wrong while it is typed.
import { Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { prettyJson } from '../../../parts/pretty-json.ts';
import type { Parsed } from './definitions.ts';

type Props = {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly label: string;
  readonly description: string;
  readonly example: string;
  readonly text: string;
  readonly onSave: (text: string) => void;
  readonly parse: (text: string) => Parsed<unknown>;
  /** More fields below the text. */
  readonly children?: ReactNode;
};

export function JsonDialog({ opened, onClose, title, ...editor }: Props) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Editor {...editor} onClose={onClose} />
    </Modal>
  );
}

function Editor({
  label,
  description,
  example,
  text,
  onSave,
  onClose,
  parse,
  children,
}: Omit<Props, 'opened' | 'title'>) {
  const [typed, setTyped] = useState(text);
  const { problem } = parse(typed);
  const save = (saved: string) => {
    onSave(prettyJson(saved) ?? saved);
    onClose();
  };
  return (
    <Stack gap="sm">
      <Textarea
        label={label}
        description={description}
        autosize
        minRows={10}
        maxRows={22}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={problem}
        data-autofocus
      />
      {children}
      <Group justify="space-between">
        <Group gap="xs">
          <Button variant="default" onClick={() => setTyped(example)}>
            Insert example
          </Button>
          {text !== '' && (
            <Button variant="default" onClick={() => save('')}>
              Remove
            </Button>
          )}
        </Group>
        <Button disabled={problem !== undefined} onClick={() => save(typed)}>
          Save
        </Button>
      </Group>
    </Stack>
  );
}
