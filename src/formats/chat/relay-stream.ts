// The straight path for a stream. Each chunk is parsed once, gets the catalogue's model id, and is
// sent on. Finishes are held back until the stream ends, because some hosts finish in mid-stream,
// twice or never. The usage, wherever a host puts it, and `[DONE]` are held back until the charge
// is recorded.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { isObject, type JsonObject, objectsOf } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import { AnswerStream } from '../answer-stream.ts';
import { editFields } from '../edit-json.ts';
import { UnreadableAnswer, type AnswerContext, type StreamPipe } from '../format.ts';
import { holdOpening } from '../hold-opening.ts';
import { brokenStream, invalidOutput, unreadableEvent } from '../stream-progress.ts';
import type { ToolNames } from '../tool-names.ts';
import { readStreamFailure, writeError } from './errors.ts';
import { callIdPrefix } from './relay-calls.ts';
import { StreamedChoice } from './relay-choice.ts';
import { meterMessage } from './relay-meter.ts';
import { renameCalls } from './relay-tool-names.ts';
import { SimilarChunks, textNames } from './similar-chunks.ts';
import { readBreak, readFinishReason } from './stop.ts';
import { readUsage, showUsage, usageOf, wantsStreamUsage } from './usage.ts';
import { countSearches } from './web-search.ts';
import { chunkHead, doneFrame } from './write-stream.ts';

export function relayStream(context: AnswerContext): StreamPipe<SseEvent> {
  return holdOpening(new ChatStreamRelay(context));
}

class ChatStreamRelay extends AnswerStream {
  readonly #wantsUsage: boolean;
  readonly #names: ToolNames | null;
  readonly #chunks = new SimilarChunks();
  readonly #choices = new Map<number, StreamedChoice>();
  /** The last piece of each choice that has finished, with the chunk around it. */
  readonly #held = new Map<number, { readonly chunk: JsonObject; choice: JsonObject }>();
  /** The last usage that the upstream reported. */
  #reportedUsage: unknown = null;
  /** The upstream's chunk that holds only usage; null: none so far. The last chunk replaces it. */
  #usageChunk: JsonObject | null = null;
  /**
   * The last chunk, when all it does is to add text. Chunks like it are this object with other texts,
   * so nothing but the text is read of them.
   */
  #textChunk: JsonObject | null = null;
  /** The source of id and time for chunks of our own. */
  #lastChunk: JsonObject = {};
  /**
   * Replaces a missing id or time: the first chunk's. It never changes, because the text around a
   * chunk's content is cached.
   */
  #head: JsonObject | null = null;

  constructor(context: AnswerContext) {
    super(context);
    this.#wantsUsage = wantsStreamUsage(context.request);
    this.#names = context.toolNames ?? null;
  }

  push(event: SseEvent): string {
    if (this.progress.status !== 'running') return '';
    if (event.data.startsWith('[DONE]'))
      return this.#choices.size > 0
        ? this.#finishChoices()
        : this.breakOff(brokenStream('the stream has no answer'));
    const chunk = this.#chunks.parse(event.data);
    if (!isObject(chunk)) return this.#failUnlessComplete(unreadableEvent(event.data));
    if (chunk === this.#textChunk && event.event !== 'error') return this.#relayText(chunk);
    const failure = readStreamFailure(event, chunk);
    if (!failure) return this.#relayChunk(chunk);
    this.#readUsage(chunk, { isAlone: false });
    return this.#failUnlessComplete(failure);
  }

  /**
   * Some hosts leave out `[DONE]`: the stream is complete when every choice has its finish reason.
   */
  override end(): string {
    if (this.progress.status !== 'running') return '';
    return this.#hasReasons
      ? this.#finishChoices()
      : this.breakOff(brokenStream('the stream ended in mid-answer'));
  }

  get #hasOutput(): boolean {
    if (this.progress.output.bytes > 0) return true;
    return [...this.#choices.values()].some(({ hasCalls }) => hasCalls);
  }

  get #hasReasons(): boolean {
    const choices = [...this.#choices.values()];
    return (
      choices.length >= this.context.request.choices &&
      choices.every(({ reason }) => reason !== null)
    );
  }

  /** Ends the stream as if the upstream had reached its limit. */
  limit(): string {
    // Azure's first chunk has no choice.
    if (this.#choices.size === 0) this.#choices.set(0, this.#newChoice(0));
    for (const choice of this.#choices.values()) choice.reason ??= 'length';
    return this.#finishChoices();
  }

  /**
   * Sends the charge to a client that asked for usage, in a chunk of its own: the upstream's, or
   * one of ours when the upstream sent its usage beside a choice.
   */
  close(costUsd: number): string {
    if (!this.#wantsUsage) return doneFrame;
    const { id, created } = this.#lastChunk;
    const { model } = this.context;
    const chunk = this.#usageChunk ?? { ...chunkHead(this.context), id, created, choices: [] };
    const usage = { ...showUsage(this.#reportedUsage, this.counted()), cost: costUsd };
    // Some hosts write `choices: null` beside their usage.
    const last = { ...chunk, ...this.#headFor(chunk), choices: [], model, usage };
    return formatSse(null, JSON.stringify(last)) + doneFrame;
  }

  fail(error: ApiError, asked: ErrorContext): string {
    return formatSse(null, JSON.stringify(writeError(error, asked)));
  }

  /** A failure after a complete answer is ignored. */
  #failUnlessComplete(failure: UpstreamFailure): string {
    return this.progress.isComplete ? this.#finishChoices() : this.breakOff(failure);
  }

  #relayText(chunk: JsonObject): string {
    const [{ delta }] = chunk.choices as [{ delta: JsonObject }];
    meterMessage(this.progress.output, delta);
    return this.#chunks.write(chunk, () => this.#writeChunk(chunk, chunk.choices as JsonObject[]));
  }

  #relayChunk(chunk: JsonObject): string {
    this.#textChunk = null;
    // Clients iterate over the list and read each choice.
    const sent = objectsOf(chunk.choices);
    // Before the choices: one that broke off ends the stream, and is paid for all the same.
    const hasUsage = this.#readUsage(chunk, { isAlone: sent.length === 0 });
    const choices = sent.map(this.#readChoice);
    if (this.progress.status !== 'running') return '';
    this.progress.isComplete = this.progress.usage !== null && this.#hasReasons;
    this.progress.isOpening = !this.#hasOutput;
    this.#lastChunk = chunk;
    this.progress.searches = countSearches(this.context.request);
    if (chunk.usage !== undefined) {
      // The gateway requested the usage. So a chunk with only usage is held back, and a client that
      // did not ask for usage sees no `usage: null` either.
      if (choices.length === 0 && (chunk.usage !== null || !this.#wantsUsage)) return '';
    }
    if (this.#held.size > 0 || choices.some(hasFinished)) return this.#holdBack(chunk, choices);
    const write = () => this.#writeChunk(chunk, choices);
    // A repaired delta depends on earlier chunks.
    const isRepaired = choices.some(({ delta }, index) => delta !== sent[index]!.delta);
    if (isRepaired) return write();
    if (!hasUsage && choices[0] === sent[0] && this.#chunks.isAlike(chunk) && isText(chunk))
      this.#textChunk = chunk;
    return this.#chunks.write(chunk, write);
  }

  /** Holds back the choices that finish, and sends the others. */
  #holdBack(chunk: JsonObject, choices: readonly JsonObject[]): string {
    let frames = '';
    const kept = { ...chunk };
    for (const choice of choices) {
      const index = choice.index as number;
      const held = this.#held.get(index);
      if (held && !isEmptyDelta(held.choice.delta)) {
        frames += this.#writeChunk(held.chunk, [{ ...held.choice, finish_reason: null }]);
        held.choice = { ...held.choice, delta: {} };
      }
      if (!hasFinished(choice) || (held && isEmptyDelta(choice.delta))) continue;
      this.#held.delete(index);
      // The texts of a chunk that is like an earlier one change with the next.
      const own = this.#chunks.isAlike(chunk) ? structuredClone(choice) : choice;
      this.#held.set(index, { chunk: kept, choice: own });
    }
    const running = choices.filter((choice) => !hasFinished(choice));
    const isSent = running.length > 0 || choices.length === 0;
    return isSent ? frames + this.#writeChunk(chunk, running) : frames;
  }

  /** Writes the last piece of every choice. Throws UnreadableAnswer when a call has no name. */
  #writeEndings(): string {
    const { id, object, created } = this.#lastChunk;
    const ending = { id, object, created };
    for (const index of this.#choices.keys())
      if (!this.#held.has(index))
        this.#held.set(index, { chunk: ending, choice: { index, delta: {} } });
    const chunks = new Map<JsonObject, JsonObject[]>();
    for (const [index, { chunk, choice }] of this.#held) {
      const ended = this.#choices.get(index)!.end(choice);
      chunks.set(chunk, [...(chunks.get(chunk) ?? []), ended]);
    }
    return [...chunks].map(([chunk, choices]) => this.#writeChunk(chunk, choices)).join('');
  }

  #writeChunk(chunk: JsonObject, choices: readonly JsonObject[]): string {
    const edited = {
      ...chunk,
      ...this.#headFor(chunk),
      ...(chunk.usage !== undefined && { usage: this.#wantsUsage ? null : undefined }),
      choices: this.#names ? choices.map(this.#renameChoice) : choices,
      model: this.context.model,
    };
    return formatSse(null, JSON.stringify(edited));
  }

  /** Returns the required fields that a chunk lacks. */
  #headFor({ id, object, created }: JsonObject): JsonObject | null {
    const ours = chunkHead(this.context);
    this.#head ??= { id: id || ours.id, object: ours.object, created: created ?? ours.created };
    const isWhole =
      typeof id === 'string' && typeof object === 'string' && typeof created === 'number';
    return isWhole ? null : { ...this.#head, ...(typeof id === 'string' && { id }) };
  }

  readonly #renameChoice = (choice: JsonObject): JsonObject => {
    const { delta, message } = choice;
    const rename = (part: unknown) =>
      isObject(part) ? renameCalls(part, this.#names!.toClient) : part;
    return editFields(choice, { delta: rename(delta), message: rename(message) });
  };

  #readUsage(chunk: JsonObject, { isAlone }: { readonly isAlone: boolean }): boolean {
    const reported = readUsage(chunk);
    if (!reported) return false;
    this.noteUsage(reported);
    this.#reportedUsage = usageOf(chunk);
    if (isAlone) this.#usageChunk = chunk;
    return true;
  }

  readonly #readChoice = (choice: JsonObject): JsonObject => {
    const { message, finish_reason: given } = choice;
    const index = typeof choice.index === 'number' ? choice.index : 0;
    const known = this.#choices.get(index);
    // As in translation, the first chunk may hold a message; a later message repeats the deltas.
    // Azure's filter sends neither, and clients read the delta.
    const first = !known && isObject(message) ? message : {};
    const sent = isObject(choice.delta) ? choice.delta : first;
    const state = known ?? this.#newChoice(index);
    if (!known) this.#choices.set(index, state);
    meterMessage(this.progress.output, sent);
    const delta = state.read(sent);
    const reason = readFinishReason(given);
    if (reason !== null) {
      state.reason = reason;
      const broken = readBreak(choice, this.#hasOutput);
      if (broken !== null) this.breakOff(brokenStream(`the stream broke off: ${broken}`));
    }
    if (choice.index === index && choice.delta === delta && given === reason) return choice;
    const repeated = sent === message && { message: delta };
    return { ...choice, index, delta, finish_reason: reason, ...repeated };
  };

  #newChoice(index: number): StreamedChoice {
    return new StreamedChoice(callIdPrefix(this.context, index));
  }

  #finishChoices(): string {
    try {
      const frames = this.#writeEndings();
      this.progress.stop = (this.#choices.get(0) ?? this.#choices.values().next().value!).stop;
      this.progress.status = 'finished';
      return frames;
    } catch (error) {
      if (error instanceof UnreadableAnswer) return this.breakOff(invalidOutput(error.message));
      throw error;
    }
  }
}

function hasFinished(choice: JsonObject): boolean {
  return choice.finish_reason !== null;
}

/** Returns true for a chunk of one choice whose delta has text, and nothing else but a role. */
function isText({ choices }: JsonObject): boolean {
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : null;
  if (!isObject(choice) || !isObject(choice.delta)) return false;
  const { delta } = choice;
  const texts = textNames.filter((name) => typeof delta[name] === 'string' && delta[name] !== '');
  const isAdded = ([name]: [string, unknown]) => !texts.includes(name);
  return (
    texts.length > 0 && isEmptyDelta(Object.fromEntries(Object.entries(delta).filter(isAdded)))
  );
}

/** Returns true for a delta that adds nothing to its choice. */
function isEmptyDelta(delta: unknown): boolean {
  const isEmpty = ([name, value]: [string, unknown]) =>
    name === 'role' || value === null || value === '' || (Array.isArray(value) && !value.length);
  return !isObject(delta) || Object.entries(delta).every(isEmpty);
}
