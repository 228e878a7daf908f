// Plays the sandbox's answer as a stream of small deltas, with the delays and failures that its
// directives ask for.
import { setImmediate } from 'node:timers/promises';
import type { Answer } from '../../canonical/answer.ts';
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import type { SpokenPart } from '../../canonical/request.ts';
import { noUsage } from '../../canonical/usage.ts';
import type { SandboxOptions } from '../provider.ts';
import { composeAnswer } from './compose.ts';
import { splitIntoDeltas } from './deltas.ts';
import {
  noDirectives,
  readDirectives,
  type Directives,
  type ReadDirectives,
} from './directives.ts';
import { failureWithStatus, overlong, refusal } from './failures.ts';
import type { SandboxRequest } from './request.ts';
import { readTurn, type Turn } from './turn.ts';
import { countInputTokens, partText } from './usage.ts';

/**
 * Yields the events of one answer. A failure with a status is the only event, without `start`, like
 * a provider's error status. An abort ends the stream at once with an `error` event.
 */
export async function* run(
  request: SandboxRequest,
  options: SandboxOptions,
): AsyncGenerator<StreamEvent> {
  try {
    yield* play(request, options);
  } catch (error) {
    if (!options.signal.aborted) throw error;
    yield fail({ kind: 'connection', status: null, message: 'the request was stopped' });
  }
}

async function* play(
  request: SandboxRequest,
  options: SandboxOptions,
): AsyncGenerator<StreamEvent> {
  options.signal.throwIfAborted();
  const { directives, outcome } = prepare(request, options);
  if (outcome.kind === 'failure') {
    await pause(directives.delayMs, options);
    yield outcome.event;
    return;
  }
  const { content, stop, usage } = outcome.answer;
  yield { type: 'start', usage: usage && { ...noUsage, inputTokens: usage.inputTokens } };
  await pause(directives.delayMs, options);
  if (yield* playContent(content, directives, options)) yield { type: 'finish', stop, usage };
  else
    yield fail({
      kind: 'broken-stream',
      status: null,
      message: 'the sandbox was asked to break off here',
    });
}

type Prepared = {
  readonly directives: Directives;
  readonly outcome:
    | { readonly kind: 'answer'; readonly answer: Answer<SpokenPart> }
    | { readonly kind: 'failure'; readonly event: StreamEvent };
};

function prepare(
  request: SandboxRequest,
  { maxInputTokens, maxOutputTokens, thinking }: SandboxOptions,
): Prepared {
  const inputTokens = countInputTokens(request);
  if (inputTokens > maxInputTokens)
    return {
      directives: noDirectives,
      outcome: { kind: 'failure', event: fail(overlong(inputTokens, maxInputTokens)) },
    };
  const turn = readTurn(request.messages);
  const read = readDirectivesOf(turn);
  if (read.kind === 'malformed')
    return {
      directives: noDirectives,
      outcome: { kind: 'failure', event: fail(refusal(read.message)) },
    };
  const { directives, text } = read;
  if (directives.status !== null)
    return {
      directives,
      outcome: { kind: 'failure', event: fail(failureWithStatus(directives.status)) },
    };
  const composed = composeAnswer({
    request,
    turn: { ...turn, text },
    directives,
    maxOutputTokens,
    thinking,
  });
  if (composed.kind === 'refused')
    return { directives, outcome: { kind: 'failure', event: fail(refusal(composed.message)) } };
  return { directives, outcome: { kind: 'answer', answer: composed.answer } };
}

/**
 * Directives apply to the first step of a turn only. Obeying them again after each tool result
 * would never end.
 */
function readDirectivesOf(turn: Turn): ReadDirectives {
  if (turn.toolResults.length > 0)
    return { kind: 'read', directives: noDirectives, text: turn.text };
  return readDirectives(turn.text);
}

/** Returns true when all content was played. */
async function* playContent(
  content: readonly SpokenPart[],
  { paceMs, cutAfter }: Directives,
  options: SandboxOptions,
): AsyncGenerator<StreamEvent, boolean> {
  let deltas = 0;
  for (const event of contentEvents(content)) {
    if (isDelta(event)) {
      if (deltas === cutAfter) return false;
      if (deltas > 0) await pause(paceMs, options);
      // Yields to other requests during a long answer without a pace.
      if (++deltas % 128 === 0) await setImmediate();
    }
    options.signal.throwIfAborted();
    yield event;
  }
  return cutAfter === null;
}

function* contentEvents(content: readonly SpokenPart[]): Generator<StreamEvent> {
  for (const part of content) {
    yield startOf(part);
    for (const text of splitIntoDeltas(partText(part))) yield { type: `${part.type}-delta`, text };
    for (const citation of (part.type === 'text' && part.citations) || [])
      yield { type: 'citation', citation };
    yield { type: `${part.type}-end` };
  }
}

function startOf(part: SpokenPart): StreamEvent {
  switch (part.type) {
    case 'text':
      return { type: 'text-start' };
    case 'refusal':
      return { type: 'refusal-start' };
    case 'thinking':
      return { type: 'thinking-start', redacted: false };
    case 'tool-call':
      return { type: 'tool-call-start', id: part.id, name: part.name, kind: part.kind };
  }
}

function isDelta(event: StreamEvent): boolean {
  return event.type.endsWith('-delta');
}

/** Rejects at once when the signal is aborted. */
async function pause(ms: number, { clock, signal }: SandboxOptions): Promise<void> {
  if (ms > 0) await clock.sleep(ms, signal);
  signal.throwIfAborted();
}

function fail(
  failure: Omit<UpstreamFailure, 'retryAfterSeconds'> & {
    readonly retryAfterSeconds?: number | null;
  },
): StreamEvent {
  return { type: 'error', failure: { retryAfterSeconds: null, ...failure } };
}
