// The turns of a conversation: questions, and the models' answers as they arrive.
import { useEffect, useRef, useState } from 'react';
import { toApiError } from '../../../api/api-error.ts';
import { useAccount } from '../../../api/account.ts';
import { chatFormats } from '../../../api/chat-formats/registry.ts';
import type {
  Attachment,
  ChatSettings,
  FormatName,
  ToolResult,
} from '../../../api/chat-formats/types.ts';
import { noProgress, runChat, type Progress } from '../../../api/run-chat.ts';
import {
  addStep,
  changeStep,
  isRunning,
  removeColumn,
  replyOf,
  requestOf,
  type Step,
  type StepPlace,
  type Turn,
} from './conversation.ts';

type Question = {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly key: string;
  /** One for each column. */
  readonly models: readonly string[];
  readonly format: FormatName;
  readonly settings: ChatSettings;
};

export type Conversation = {
  readonly turns: readonly Turn[];
  readonly isRunning: boolean;
  readonly send: (question: Question) => void;
  /** Sends the results of a step's calls to its model. */
  readonly sendResults: (place: StepPlace, results: readonly ToolResult[], key: string) => void;
  /** Stops all answers and keeps their text so far. */
  readonly stop: () => void;
  readonly clear: () => void;
  readonly removeColumn: (column: number) => void;
};

export function useConversation(initial: readonly Turn[]): Conversation {
  const { id: account } = useAccount();
  const [turns, setTurns] = useState(initial);
  // The newest turns, for answers that arrive between two renderings.
  const latest = useRef(initial);
  const running = useRef(new Set<AbortController>());
  const stop = () => {
    for (const controller of running.current) controller.abort();
  };
  useEffect(() => {
    const own = running.current;
    return () => {
      for (const controller of own) controller.abort();
    };
  }, []);
  const change = (next: readonly Turn[]) => {
    latest.current = next;
    setTurns(next);
  };

  const run = async (place: StepPlace, key: string) => {
    const controller = new AbortController();
    running.current.add(controller);
    const patch = (fields: Partial<Step>) => change(changeStep(latest.current, place, fields));
    const show = oncePerFrame((progress: Progress) => patch({ progress }));
    const { format } = latest.current.find(({ id }) => id === place.turn)!;
    const request = requestOf(latest.current, place);
    try {
      const call = { account, key, signal: controller.signal };
      await runChat({ ...call, format: chatFormats[format], request }, show.call);
      show.flush();
      patch({ state: 'complete' });
    } catch (thrown) {
      show.flush();
      if (controller.signal.aborted) patch({ state: 'stopped' });
      else patch({ state: 'failed', error: toApiError(thrown) });
    } finally {
      running.current.delete(controller);
    }
  };

  return {
    turns,
    isRunning: isRunning(turns),
    stop,
    send({ models, key, ...question }) {
      const id = (latest.current.at(-1)?.id ?? 0) + 1;
      const replies = models.map((model, column) => ({ column, steps: [newStep(model)] }));
      change([...latest.current, { id, ...question, replies }]);
      for (const { column } of replies) void run({ turn: id, column, step: 0 }, key);
    },
    sendResults(place, results, key) {
      const answered = changeStep(latest.current, place, { results });
      const reply = replyOf(
        answered.find(({ id }) => id === place.turn)!,
        place.column,
      )!;
      change(addStep(answered, place, newStep(reply.steps[place.step]!.model)));
      void run({ ...place, step: place.step + 1 }, key);
    },
    clear() {
      stop();
      change([]);
    },
    removeColumn(column) {
      stop();
      change(removeColumn(latest.current, column));
    },
  };
}

function newStep(model: string): Step {
  return { model, progress: noProgress, state: 'running', error: null, results: null };
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
