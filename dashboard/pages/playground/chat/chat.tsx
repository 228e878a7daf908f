import { ActionIcon, Paper, Tooltip } from '@mantine/core';
import { IconAdjustmentsHorizontal, IconCode, IconMessages, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { ChatModel, ModelCatalogue } from '../../../../src/management/contract/models.ts';
import { chatFormats } from '../../../api/chat-formats/registry.ts';
import type { ChatRequest, FormatName } from '../../../api/chat-formats/types.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import type { Key } from '../../../parts/key-select.tsx';
import { useDraft } from '../../../parts/drafts.ts';
import { useIsWide } from '../../../parts/screen.ts';
import { useUrlState } from '../../../parts/url-state.ts';
import { CodeDialog } from '../code/code-dialog.tsx';
import { useOtherOwner } from '../key-field.tsx';
import { rememberLastKey } from '../last-key.ts';
import { chatChoices, chosenModels, findModel } from '../model-choices.ts';
import { SettingsDrawer } from '../settings-drawer.tsx';
import { useScope } from '../use-chosen-key.ts';
import { ChatSettingsForm } from './chat-settings.tsx';
import classes from './chat.module.css';
import { ChatFromRequest } from './chat-from-request.tsx';
import { ColumnsBar } from './columns-bar.tsx';
import { Compose } from './compose.tsx';
import {
  columnsMax,
  messagesOf,
  questionOf,
  requestOf,
  type StepPlace,
  type Turn,
} from './conversation.ts';
import { DefinitionDialogs, type Definition } from './definition-dialogs.tsx';
import { emptyDraft, readDraft, type Draft } from './draft.ts';
import type { Beginning } from './from-request.ts';
import { useKeepChat, useKeptChat, type KeptChat } from './kept-chat.ts';
import { SavedPrompts } from './saved-prompts.tsx';
import { TurnView } from './turn-view.tsx';
import { useConversation } from './use-conversation.ts';
import { useStickToBottom } from './use-stick-to-bottom.ts';

type Props = {
  readonly catalogue: ModelCatalogue;
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
};

export function Chat(props: Props) {
  const scope = useScope();
  const [{ request, format }] = useUrlState((search) => ({
    request: search.request ?? null,
    format: readFormat(search.format) ?? 'responses',
  }));
  if (request === null) return <OwnChat key={scope} {...props} scope={scope} />;
  return (
    <ChatFromRequest key={request} request={request} format={chatFormats[format]}>
      {(begun) => <ChatFrom {...props} scope={scope} begun={begun} isKept={false} />}
    </ChatFromRequest>
  );
}

function OwnChat(props: Props & { readonly scope: string }) {
  const kept = useKeptChat(props.scope);
  // It is read within milliseconds, and not at all while the tab is hidden.
  if (kept === undefined) return <div className={classes.talk} />;
  return <ChatFrom {...props} begun={kept} isKept />;
}

type ChatProps = Props & {
  readonly scope: string;
  readonly begun: Partial<KeptChat & Beginning> | null;
  /** The browser keeps it. */
  readonly isKept: boolean;
};

function ChatFrom({ catalogue, chosenKey, setKey, scope, begun, isKept }: ChatProps) {
  // Without models in the address, as after a look at the images, those used last.
  const [lastModels, setLastModels] = useState(begun?.models?.join(',') ?? '');
  const [view, setView] = useUrlState((search) => ({
    models: search.model?.split(',') ?? null,
    format: readFormat(search.format) ?? begun?.format ?? 'responses',
  }));
  const [draft, setDraft] = useState(begun?.draft ?? emptyDraft);
  const [text, setText] = useState(begun?.text ?? '');
  const [attachments, setAttachments] = useState(begun?.attachments ?? []);
  const [code, setCode] = useState<{ format: FormatName; request: ChatRequest } | null>(null);
  const changeDraft = (patch: Partial<Draft>) => setDraft((before) => ({ ...before, ...patch }));
  const [edited, setEdited] = useState<Definition | null>(null);
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const [column, setColumn] = useState(0);
  const conversation = useConversation(begun?.turns ?? []);
  const { turns, isRunning } = conversation;
  useDraft('chat', () => text || unansweredText(turns), setText);
  const isWide = useIsWide();
  const keyOwner = useOtherOwner(chosenKey);
  const log = useStickToBottom();

  const choices = chatChoices(catalogue.chat, chosenKey);
  const models = chosenModels(choices, view.models ?? lastModels.split(',')).slice(0, columnsMax);
  const modelIds = models.map(({ id }) => id);
  const modelText = modelIds.join(',');
  const isAsked = view.models?.some((id) => findModel(choices, id) !== null) ?? false;
  if (isAsked && modelText !== lastModels) setLastModels(modelText);
  const format = chatFormats[view.format];
  const shownColumn = isWide ? null : Math.min(column, models.length - 1);
  const read = readDraft(draft);
  const blind = models.find(({ abilities }) => !abilities.vision);
  const problem =
    'problem' in read
      ? read.problem
      : blind && attachments.some(({ kind }) => kind !== 'text')
        ? `${blind.name} cannot read images or PDFs. Choose a model with vision, or remove the files.`
        : null;
  const isReady =
    (text.trim() !== '' || attachments.length > 0) &&
    models.length > 0 &&
    !isRunning &&
    problem === null;
  const settings = 'settings' in read ? read.settings : null;
  useKeepChat(
    isKept ? scope : null,
    { models: modelIds, format: format.name, draft, turns },
    isRunning,
  );

  const setModels = (next: readonly ChatModel[]) =>
    setView({ model: next.map(({ id }) => id).join(',') });
  const send = () => {
    rememberLastKey(scope, chosenKey.id);
    const question = { text, attachments, key: chosenKey.id, format: format.name };
    conversation.send({ ...question, models: modelIds, settings: settings! });
    setText('');
    setAttachments([]);
  };
  const showCode = (place: StepPlace) =>
    setCode({
      format: turns.find(({ id }) => id === place.turn)!.format,
      request: requestOf(turns, place),
    });
  /** The request that Send would make to the shown model; without a question, the last one. */
  const showNextCode = () => {
    const place = { column: shownColumn ?? 0, turn: turns.at(-1)?.id ?? 0, step: 0 };
    const hasReply = turns.at(-1)?.replies.some((reply) => reply.column === place.column);
    if (text.trim() === '' && attachments.length === 0 && hasReply) return showCode(place);
    const question = questionOf({ text: text || 'Hello!', attachments });
    const messages = [...messagesOf(turns, place.column), question];
    const model = models[place.column]?.id ?? '';
    setCode({ format: format.name, request: { ...settings!, model, messages } });
  };

  const hasRoomForSettings = isWide && models.length <= 2;
  return (
    <div className={classes.layout} data-wide={hasRoomForSettings || undefined}>
      <Paper className={classes.talk} component="section" aria-label="Conversation">
        <ColumnsBar
          choices={choices}
          models={models}
          setModels={setModels}
          onRemove={(removed) => {
            conversation.removeColumn(removed);
            setModels(models.filter((_model, index) => index !== removed));
          }}
          shownColumn={shownColumn}
          setShownColumn={setColumn}
        />
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
              text={`Messages are sent in the ${format.label} format with ${keyOwner ?? 'your'} key “${chosenKey.name || chosenKey.hint}”.`}
            />
          ) : (
            turns.map((turn) => (
              <TurnView
                key={turn.id}
                turn={turn}
                conversation={conversation}
                nameOf={(id) => catalogue.chat.find((model) => model.id === id)?.name ?? id}
                keyId={chosenKey.id}
                shownColumn={shownColumn}
                onShowCode={showCode}
              />
            ))
          )}
        </div>
        <Compose
          text={text}
          setText={setText}
          attachments={attachments}
          setAttachments={setAttachments}
          problem={problem}
          isReady={isReady}
          isRunning={isRunning}
          onSend={send}
          onStop={conversation.stop}
        >
          <SavedPrompts
            text={text}
            draft={draft}
            onChoose={(prompt) => {
              setText(prompt.text);
              setDraft(prompt.draft);
            }}
          />
          <Tooltip label="Copy as code">
            <ActionIcon
              size="lg"
              aria-label="Copy as code"
              disabled={settings === null}
              onClick={showNextCode}
            >
              <IconCode size={18} stroke={1.6} aria-hidden />
            </ActionIcon>
          </Tooltip>
          {turns.length > 0 && (
            <Tooltip label="Clear conversation">
              <ActionIcon size="lg" aria-label="Clear conversation" onClick={conversation.clear}>
                <IconTrash size={18} stroke={1.6} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          {!hasRoomForSettings && (
            <Tooltip label="Settings">
              <ActionIcon size="lg" aria-label="Settings" onClick={() => setSettingsOpen(true)}>
                <IconAdjustmentsHorizontal size={18} stroke={1.6} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
        </Compose>
      </Paper>
      <SettingsDrawer
        isBeside={hasRoomForSettings}
        opened={areSettingsOpen}
        onClose={() => setSettingsOpen(false)}
      >
        <ChatSettingsForm
          chosenKey={chosenKey}
          setKey={setKey}
          models={models}
          format={format}
          setFormat={(name) => setView({ format: name })}
          draft={draft}
          setDraft={changeDraft}
          onEdit={setEdited}
        />
      </SettingsDrawer>
      <DefinitionDialogs
        edited={edited}
        onClose={() => setEdited(null)}
        draft={draft}
        setDraft={changeDraft}
      />
      <CodeDialog
        opened={code !== null}
        onClose={() => setCode(null)}
        path={chatFormats[code?.format ?? 'responses'].path}
        body={code ? chatFormats[code.format].writeBody(code.request) : {}}
        files={code ? filesOf(code.request) : []}
      />
    </div>
  );
}

function filesOf({ messages }: ChatRequest) {
  return messages.flatMap((message) =>
    message.role === 'user'
      ? (message.attachments ?? []).flatMap((file) => ('data' in file ? [file] : []))
      : [],
  );
}

function readFormat(text: string | undefined): FormatName | null {
  return text !== undefined && Object.hasOwn(chatFormats, text) ? (text as FormatName) : null;
}

/** A question that was sent when the session had ended. Its answer never comes. */
function unansweredText(turns: readonly Turn[]): string | undefined {
  const last = turns.at(-1);
  const isAnswered = last?.replies.some(({ steps }) =>
    steps.some(({ state }) => state === 'complete' || state === 'stopped'),
  );
  return isAnswered ? undefined : last?.text;
}
