// Plays the sandbox's answer as a stream of small deltas, with the delays and failures that its
// directives ask for.
import { setImmediate } from 'node:timers/promises';
import { eventsOfPart, wordsOf } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { SpokenPart } from '../../canonical/request.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { noUsage } from '../../canonical/usage.ts';
import { brokenStream } from '../../formats/stream-progress.ts';
import type { SandboxOptions } from '../provider.ts';
import { composeAnswer } from './compose.ts';
import { splitIntoDeltas } from './deltas.ts';
import { noDirectives, readDirectives, type Directives } from './directives.ts';
import { failureOf, overlong, refusal } from './failures.ts';
import type { SandboxRequest } from './request.ts';
import { readTurn, type Turn } from './turn.ts';
import { countInputTokens } from './usage.ts';

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
    yield { type: 'error', failure: failureOf(error, options) };
  }
}

async function* play(
  request: SandboxRequest,
  options: SandboxOptions,
): AsyncGenerator<StreamEvent> {
  options.signal.throwIfAborted();
  const { maxInputTokens, maxOutputTokens, thinking } = options;
  const inputTokens = countInputTokens(request);
  if (inputTokens > maxInputTokens) throw new UpstreamBroken(overlong(inputTokens, maxInputTokens));
  const turn = readTurn(request.messages);
  const { directives, text } = readDirectivesOf(turn);
  const composed = composeAnswer({
    request,
    turn: { ...turn, text },
    directives,
    maxOutputTokens,
    thinking,
  });
  if (composed.kind === 'failure') {
    await pause(directives.delayMs, options);
    throw new UpstreamBroken(composed.failure);
  }
  const { content, stop, usage } = composed.answer;
  yield { type: 'start', usage: usage && { ...noUsage, inputTokens: usage.inputTokens } };
  await pause(directives.delayMs, options);
  if (!(yield* playContent(content, directives, options)))
    throw new UpstreamBroken(brokenStream('the sandbox was asked to break off here'));
  yield { type: 'finish', stop, usage };
}

/**
 * Directives apply to the first step of a turn only: obeying them again after each tool result would
 * never end. Throws UpstreamBroken for a malformed one.
 */
function readDirectivesOf({ text, toolResults }: Turn) {
  if (toolResults.length > 0) return { directives: noDirectives, text };
  const read = readDirectives(text);
  if (read.kind === 'malformed') throw new UpstreamBroken(refusal(read.message));
  return read;
}

/** Returns true when all content was played. */
async function* playContent(
  content: readonly SpokenPart[],
  { paceMs, cutAfter }: Directives,
  options: SandboxOptions,
): AsyncGenerator<StreamEvent, boolean> {
  let deltas = 0;
  // A hundred thousand pieces of an answer that nobody sees grow take time and memory.
  const isWhole = !options.stream && paceMs === 0 && cutAfter === null;
  for (const event of contentEvents(content, isWhole)) {
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

function* contentEvents(content: readonly SpokenPart[], isWhole: boolean): Generator<StreamEvent> {
  for (const part of content)
    yield* eventsOfPart(part, isWhole ? undefined : splitIntoDeltas(wordsOf(part)));
}

function isDelta(event: StreamEvent): boolean {
  return event.type.endsWith('-delta');
}

/** Rejects at once when the signal is aborted. */
async function pause(ms: number, { clock, signal }: SandboxOptions): Promise<void> {
  if (ms > 0) await clock.sleep(ms, signal);
  signal.throwIfAborted();
}
