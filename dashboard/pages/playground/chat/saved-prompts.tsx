// Prompts that this browser keeps under a name: the message with its system prompt, tools and schema.
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconBookmark } from '@tabler/icons-react';
import { useAccount } from '../../../api/account.ts';
import { useUser } from '../../../api/session.ts';
import { SavedList } from '../../../parts/saved-list.tsx';
import { emptyDraft, type Draft } from './draft.ts';

type Prompt = { readonly text: string; readonly draft: Draft };

type Props = Prompt & { readonly onChoose: (prompt: Prompt) => void };

export function SavedPrompts({ text, draft, onChoose }: Props) {
  return (
    <SavedList<Prompt>
      storageKey={`tollgate.playground.prompts.${useUser().id}.${useAccount().id}`}
      label="Saved prompts"
      nameLabel="Name of this prompt"
      note="Saves the message, system prompt, tools and settings in this browser, without files."
      current={{ text, draft }}
      onChoose={(saved) => onChoose({ text: saved.text, draft: { ...emptyDraft, ...saved.draft } })}
      position="top-start"
      opener={opener}
    />
  );
}

function opener(toggle: () => void) {
  return (
    <Tooltip label="Saved prompts">
      <ActionIcon size="lg" aria-label="Saved prompts" onClick={toggle}>
        <IconBookmark size={18} stroke={1.6} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
