// A conversation with one to four models: each turn has a question and one reply for each model. Pure
// functions.
import { ApiError } from '../../../api/api-error.ts';
import type {
  Attachment,
  ChatRequest,
  ChatSettings,
  FormatName,
  Message,
  ToolResult,
} from '../../../api/chat-formats/types.ts';
import { hasTokens, type Progress } from '../../../api/run-chat.ts';
import { sizeOf } from './attachments.ts';

export const columnsMax = 4;

/** One request and its answer. */
export type Step = {
  readonly model: string;
  readonly progress: Progress;
  readonly state: 'running' | 'complete' | 'stopped' | 'failed';
  readonly error: ApiError | null;
  /** The reader's results of the answer's calls, which the next step sends; null: not given yet. */
  readonly results: readonly ToolResult[] | null;
  /** Results to begin with, which the reader may change. */
  readonly drafted?: readonly ToolResult[];
};

/** A model's answers to a question: the next step follows when the reader gives tool results. */
export type Reply = { readonly column: number; readonly steps: readonly Step[] };

export type Turn = {
  readonly id: number;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly format: FormatName;
  readonly settings: ChatSettings;
  readonly replies: readonly Reply[];
};

/** Names one step of a conversation. */
export type StepPlace = {
  readonly turn: number;
  readonly column: number;
  readonly step: number;
};

export function replyOf(turn: Turn, column: number): Reply | undefined {
  return turn.replies.find((reply) => reply.column === column);
}

export function isRunning(turns: readonly Turn[]): boolean {
  return turns.some(({ replies }) =>
    replies.some(({ steps }) => steps.some(({ state }) => state === 'running')),
  );
}

/** Returns the request of a step, exactly as it was sent. */
export function requestOf(turns: readonly Turn[], place: StepPlace): ChatRequest {
  const index = turns.findIndex(({ id }) => id === place.turn);
  const turn = turns[index]!;
  const steps = replyOf(turn, place.column)!.steps;
  return {
    ...turn.settings,
    model: steps[place.step]!.model,
    messages: [
      ...messagesOf(turns.slice(0, index), place.column),
      questionOf(turn),
      ...steps.slice(0, place.step).flatMap((step) => stepMessages(step, turn.format)),
    ],
  };
}

/** Returns a model's messages so far. Leaves out turns without an answer of the model. */
export function messagesOf(turns: readonly Turn[], column: number): readonly Message[] {
  return turns.flatMap((turn) => {
    const steps = replyOf(turn, column)?.steps ?? [];
    const answered = steps.filter(isUsable);
    if (answered.length === 0 || answered.length < steps.length) return [];
    return [
      questionOf(turn),
      ...answered.flatMap((step, index) =>
        stepMessages(step, turn.format, index === answered.length - 1),
      ),
    ];
  });
}

export function questionOf({ text, attachments }: Pick<Turn, 'text' | 'attachments'>): Message {
  return { role: 'user', text, attachments };
}

function isUsable({ state, progress }: Step): boolean {
  return state !== 'failed' && state !== 'running' && hasTokens(progress.answer);
}

/**
 * An answer that was stopped is sent without its calls, and without the shape that it had not
 * reached. So is a last answer whose calls got no results: the formats refuse open calls.
 */
function stepMessages(step: Step, format: FormatName, isLast = false): readonly Message[] {
  const { text, calls, echo } = step.progress.answer;
  const isOpen = isLast && calls.length > 0 && step.results === null;
  if (step.state !== 'complete' || isOpen)
    return [{ role: 'assistant', format, text: text || '(no answer)', calls: [], echo: [] }];
  return [
    { role: 'assistant', format, text, calls, echo },
    ...(step.results ? [{ role: 'tool' as const, results: step.results }] : []),
  ];
}

export function changeStep(
  turns: readonly Turn[],
  place: StepPlace,
  patch: Partial<Step>,
): readonly Turn[] {
  return changeReply(turns, place, ({ column, steps }) => ({
    column,
    steps: steps.map((step, index) => (index === place.step ? { ...step, ...patch } : step)),
  }));
}

export function addStep(
  turns: readonly Turn[],
  place: Omit<StepPlace, 'step'>,
  step: Step,
): readonly Turn[] {
  return changeReply(turns, place, ({ column, steps }) => ({ column, steps: [...steps, step] }));
}

function changeReply(
  turns: readonly Turn[],
  { turn, column }: Omit<StepPlace, 'step'>,
  change: (reply: Reply) => Reply,
): readonly Turn[] {
  return turns.map((each) =>
    each.id === turn
      ? {
          ...each,
          replies: each.replies.map((reply) => (reply.column === column ? change(reply) : reply)),
        }
      : each,
  );
}

/** Removes a model's replies; the models after it move up. */
export function removeColumn(turns: readonly Turn[], removed: number): readonly Turn[] {
  return turns.flatMap((turn) => {
    const replies = turn.replies
      .filter(({ column }) => column !== removed)
      .map((reply) => (reply.column > removed ? { ...reply, column: reply.column - 1 } : reply));
    return replies.length === 0 ? [] : [{ ...turn, replies }];
  });
}

/** The results that the reader has given to a tool before, newest first. */
export function earlierResults(turns: readonly Turn[], tool: string): readonly string[] {
  const found = turns.flatMap(({ replies }) =>
    replies.flatMap(({ steps }) =>
      steps.flatMap(({ progress, results }) =>
        (results ?? [])
          .filter(({ callId }) =>
            progress.answer.calls.some(({ id, name }) => id === callId && name === tool),
          )
          .map(({ output }) => output),
      ),
    ),
  );
  return [...new Set(found.toReversed())];
}

/** Characters of a conversation that the browser keeps. */
const keptMax = 24 * 1024 * 1024;

/** Returns the newest turns that fit, without what cannot be stored. A running answer was cut off. */
export function toKept(turns: readonly Turn[], max = keptMax): readonly Turn[] {
  let room = max;
  const kept: Turn[] = [];
  for (const turn of turns.toReversed()) {
    const files = turn.attachments.reduce((sum, file) => sum + sizeOf(file) * 1.4, 0);
    room -= files + JSON.stringify({ ...turn, attachments: [] }).length;
    if (room < 0) break;
    kept.unshift(
      mapSteps(turn, ({ error, ...step }) => ({
        ...step,
        error: error && fieldsOf(error),
      })),
    );
  }
  return kept;
}

/** The browser's storage keeps of an error object only its message. */
function fieldsOf({ name, status, code, message, param, requestId, ...rest }: ApiError): ApiError {
  const { details, retryAfterSeconds } = rest;
  return { name, status, code, message, param, requestId, details, retryAfterSeconds };
}

export function fromKept(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn) =>
    mapSteps(turn, (step) => ({
      ...step,
      state: step.state === 'running' ? 'stopped' : step.state,
      error: step.error && new ApiError(step.error),
    })),
  );
}

function mapSteps(turn: Turn, change: (step: Step) => Step): Turn {
  return {
    ...turn,
    replies: turn.replies.map((reply) => ({ ...reply, steps: reply.steps.map(change) })),
  };
}
