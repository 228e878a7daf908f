import { ActionIcon, Button, Group, Paper, Textarea, Tooltip } from '@mantine/core';
import {
  IconCode,
  IconMessages,
  IconPlayerStopFilled,
  IconSend2,
  IconTrash,
} from '@tabler/icons-react';
import { useState } from 'react';
import type { ModelCatalogue } from '../../../src/dashboard-contract/models.ts';
import { useDraft } from '../../parts/drafts.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import type { Key } from '../../parts/key-select.tsx';
import { chatFormats, type ChatSettings, type FormatName } from '../../api/chat-formats.ts';
import { ChatSettingsForm } from './chat-settings.tsx';
import classes from './chat.module.css';
import { CodeDialog } from './code-dialog.tsx';
import { chatChoices, findModel, defaultModel } from './model-choices.ts';
import { SettingsButton, SettingsDrawer } from './settings-drawer.tsx';
import { TurnView } from './turn-view.tsx';
import { messagesOf, useConversation } from './use-conversation.ts';
import { useStickToBottom } from './use-stick-to-bottom.ts';

type Props = {
  readonly catalogue: ModelCatalogue;
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
};

const defaults: ChatSettings = {
  system: '',
  maxTokens: null,
  temperature: null,
  effort: null,
  stream: true,
};

export function Chat({ catalogue, chosenKey, setKey }: Props) {
  const [view, setView] = useUrlState((search) => ({
    model: search.model ?? null,
    format: readFormat(search.format),
  }));
  const [settings, setSettings] = useState(defaults);
  const [draft, setDraft] = useState('');
  const [isCodeOpen, setCodeOpen] = useState(false);
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const { turns, isRunning, send, stop, clear } = useConversation();
  const unanswered = turns.find(({ state }) => state !== 'complete' && state !== 'stopped');
  useDraft('chat', () => draft || unanswered?.question, setDraft);
  useDraft('chat settings', () => (settings === defaults ? undefined : settings), setSettings);
  const choices = chatChoices(catalogue.chat, chosenKey);
  const model = findModel(choices, view.model) ?? defaultModel(choices);
  const format = chatFormats[view.format];
  const isSendable = draft.trim() !== '' && model !== null && !isRunning;

  const log = useStickToBottom();
  const submit = () => {
    if (!isSendable) return;
    send({ text: draft, key: chosenKey.id, model: model.id, format: format.name, settings });
    setDraft('');
  };
  const question = draft.trim() === '' ? (turns.at(-1)?.question ?? 'Hello!') : draft;
  const history = draft.trim() === '' ? turns.slice(0, -1) : turns;

  return (
    <div className={classes.layout}>
      <Paper className={classes.talk} component="section" aria-label="Conversation">
        <div
          ref={log}
          className={classes.turns}
          role="log"
          aria-label="Messages"
          aria-busy={isRunning}
          tabIndex={0}
        >
          {turns.length === 0 ? (
            <EmptyState
              icon={IconMessages}
              title="Start a conversation"
              text={`Messages are sent in the ${format.label} format with the key “${chosenKey.name || chosenKey.hint}”.`}
            />
          ) : (
            turns.map((turn) => <TurnView key={turn.id} turn={turn} names={catalogue.chat} />)
          )}
        </div>
        <form
          className={classes.compose}
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Textarea
            aria-label="Message"
            placeholder="Write a message. Press Enter to send, Shift+Enter for a new line."
            autosize
            minRows={2}
            maxRows={10}
            value={draft}
            onChange={(event) => setDraft(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              submit();
            }}
          />
          <Group justify="space-between" mt="xs" gap="xs">
            <Group gap="xs">
              <SettingsButton onClick={() => setSettingsOpen(true)} />
              <Button
                variant="default"
                leftSection={<IconCode size={16} aria-hidden />}
                onClick={() => setCodeOpen(true)}
              >
                View code
              </Button>
              {turns.length > 0 && (
                <Tooltip label="Clear conversation">
                  <ActionIcon size="lg" aria-label="Clear conversation" onClick={clear}>
                    <IconTrash size={18} stroke={1.6} aria-hidden />
                  </ActionIcon>
                </Tooltip>
              )}
            </Group>
            {isRunning ? (
              <Button
                color="red"
                variant="light"
                leftSection={<IconPlayerStopFilled size={16} aria-hidden />}
                onClick={stop}
              >
                Stop
              </Button>
            ) : (
              <Button
                type="submit"
                disabled={!isSendable}
                leftSection={<IconSend2 size={16} aria-hidden />}
              >
                Send
              </Button>
            )}
          </Group>
        </form>
      </Paper>
      <SettingsDrawer opened={areSettingsOpen} onClose={() => setSettingsOpen(false)}>
        <ChatSettingsForm
          chosenKey={chosenKey}
          setKey={setKey}
          choices={choices}
          model={model}
          setModel={(id) => setView({ model: id })}
          format={format}
          setFormat={(name) => setView({ format: name === 'responses' ? undefined : name })}
          settings={settings}
          setSettings={(patch) => setSettings({ ...settings, ...patch })}
        />
      </SettingsDrawer>
      <CodeDialog
        opened={isCodeOpen}
        onClose={() => setCodeOpen(false)}
        path={format.path}
        body={format.writeBody({
          ...settings,
          model: model?.id ?? '',
          messages: messagesOf(history, question),
        })}
      />
    </div>
  );
}

function readFormat(text: string | undefined): FormatName {
  return text === 'chat' || text === 'messages' ? text : 'responses';
}
