// The turns of a chat: questions, and answers as they arrive.
import { useEffect, useRef, useState } from 'react';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import { useAccount } from '../../api/account.ts';
import {
  chatFormats,
  type ChatSettings,
  type FormatName,
  type Message,
} from '../../api/chat-formats.ts';
import { noProgress, runChat, type Progress } from '../../api/run-chat.ts';

export type Turn = {
  readonly id: number;
  readonly question: string;
  readonly model: string;
  readonly format: FormatName;
  readonly progress: Progress;
  readonly state: 'running' | 'complete' | 'stopped' | 'failed';
  readonly error: ApiError | null;
};

type Question = {
  readonly text: string;
  readonly key: string;
  readonly model: string;
  readonly format: FormatName;
  readonly settings: ChatSettings;
};

export type Conversation = {
  readonly turns: readonly Turn[];
  readonly isRunning: boolean;
  readonly send: (question: Question) => void;
  /** Stops the answer and keeps the text so far. */
  readonly stop: () => void;
  readonly clear: () => void;
};

export function useConversation(): Conversation {
  const { id: account } = useAccount();
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const run = async (turn: Turn, messages: readonly Message[], { key, settings }: Question) => {
    const controller = new AbortController();
    running.current = controller;
    const change = (patch: Partial<Turn>) =>
      setTurns((before) =>
        before.map((each) => (each.id === turn.id ? { ...each, ...patch } : each)),
      );
    const show = oncePerFrame((progress: Progress) => change({ progress }));
    try {
      const call = { account, key, signal: controller.signal };
      const request = { ...settings, model: turn.model, messages };
      await runChat({ ...call, format: chatFormats[turn.format], request }, show.call);
      show.flush();
      change({ state: 'complete' });
    } catch (thrown) {
      show.flush();
      if (controller.signal.aborted) change({ state: 'stopped' });
      else change({ state: 'failed', error: toApiError(thrown) });
    } finally {
      if (running.current === controller) running.current = null;
    }
  };

  return {
    turns,
    isRunning: turns.some(({ state }) => state === 'running'),
    send(question) {
      const { text, model, format } = question;
      const id = (turns.at(-1)?.id ?? 0) + 1;
      const turn: Turn = {
        id,
        question: text,
        model,
        format,
        progress: noProgress,
        state: 'running',
        error: null,
      };
      setTurns([...turns, turn]);
      void run(turn, messagesOf(turns, text), question);
    },
    stop: () => running.current?.abort(),
    clear() {
      running.current?.abort();
      setTurns([]);
    },
  };
}

/** Returns the conversation so far and the new question. Skips turns without an answer. */
export function messagesOf(turns: readonly Turn[], question: string): readonly Message[] {
  const answered = turns.filter(
    ({ state, progress }) => state !== 'failed' && progress.answer.text,
  );
  return [
    ...answered.flatMap(({ question: asked, progress }): Message[] => [
      { role: 'user', text: asked },
      { role: 'assistant', text: progress.answer.text! },
    ]),
    { role: 'user', text: question },
  ];
}

/**
 * Limits updates to one per frame: streams send more events than a screen shows. The last one
 * always runs.
 */
function oncePerFrame<Value>(action: (value: Value) => void) {
  let frame: number | null = null;
  let latest: { readonly value: Value } | null = null;
  const flush = () => {
    if (frame !== null) cancelAnimationFrame(frame);
    frame = null;
    if (latest) action(latest.value);
    latest = null;
  };
  const call = (value: Value) => {
    latest = { value };
    frame ??= requestAnimationFrame(flush);
  };
  return { call, flush };
}
