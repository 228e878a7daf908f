// Plays the sandbox's answer as a stream of small deltas, with the delays and failures that its
// directives ask for.
import { setImmediate } from 'node:timers/promises';
import { eventsOfPart, wordsOf } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { noUsage } from '../../canonical/usage.ts';
import { brokenStream } from '../../formats/stream-progress.ts';
import type { SandboxOptions } from '../provider.ts';
import { composeAnswer, type Composed } from './compose.ts';
import { splitIntoDeltas } from './deltas.ts';
import type { Directives } from './directives.ts';
import { refuse } from './failures.ts';
import type { SandboxRequest } from './request.ts';
import { readTurn } from './turn.ts';
import { countInputTokens } from './usage.ts';

export type Begun = Composed & { readonly directives: Directives };

/** Composes the answer. Throws UpstreamBroken, after the requested delay, for a request that fails. */
export async function begin(request: SandboxRequest, options: SandboxOptions): Promise<Begun> {
  options.signal.throwIfAborted();
  const { maxInputTokens, maxOutputTokens, thinking } = options;
  const inputTokens = countInputTokens(request);
  if (inputTokens > maxInputTokens)
    refuse(
      `The prompt is too long: ${inputTokens} tokens, and this model's maximum context takes ${maxInputTokens}.`,
    );
  const turn = readTurn(request.messages);
  const { directives } = turn;
  try {
    return { ...composeAnswer({ request, turn, maxOutputTokens, thinking }), directives };
  } catch (error) {
    await pause(directives.delayMs, options);
    throw error;
  }
}

/** Yields the events of an answer. Throws UpstreamBroken where it breaks off, and when aborted. */
export async function* play(
  { answer, directives }: Begun,
  options: SandboxOptions,
): AsyncGenerator<StreamEvent> {
  const { content, stop, usage } = answer;
  yield { type: 'start', usage: usage && { ...noUsage, inputTokens: usage.inputTokens } };
  await pause(directives.delayMs, options);
  yield* playContent(content, directives, options);
  yield { type: 'finish', stop, usage };
}

async function* playContent(
  content: Composed['answer']['content'],
  { paceMs, cutAfter }: Directives,
  options: SandboxOptions,
): AsyncGenerator<StreamEvent> {
  let deltas = 0;
  // A hundred thousand pieces of an answer that nobody sees grow take time and memory.
  const isWhole = !options.stream && paceMs === 0 && cutAfter === null;
  for (const event of contentEvents(content, isWhole)) {
    if (isDelta(event)) {
      if (deltas === cutAfter) break;
      if (deltas > 0) await pause(paceMs, options);
      // Yields to other requests during a long answer without a pace.
      if (++deltas % 128 === 0) await setImmediate();
    }
    options.signal.throwIfAborted();
    yield event;
  }
  if (cutAfter !== null)
    throw new UpstreamBroken(brokenStream('the sandbox was asked to break off here'));
}

function* contentEvents(
  content: Composed['answer']['content'],
  isWhole: boolean,
): Generator<StreamEvent> {
  for (const part of content)
    yield* eventsOfPart(
      part,
      isWhole || part.type === 'search' ? undefined : splitIntoDeltas(wordsOf(part)),
    );
}

function isDelta(event: StreamEvent): boolean {
  return event.type.endsWith('-delta');
}

/** Rejects at once when the signal is aborted. */
async function pause(ms: number, { clock, signal }: SandboxOptions): Promise<void> {
  if (ms > 0) await clock.sleep(ms, signal);
  signal.throwIfAborted();
}
