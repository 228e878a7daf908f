// The straight path for a stream. Each chunk is parsed once, gets the catalogue's model id, and is
// sent on. The usage, wherever a host puts it, and `[DONE]` are held back until the charge is
// recorded.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { countUsage, mergeUsage } from '../../canonical/usage.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import { editFields } from '../edit-json.ts';
import type { AnswerContext, StreamPipe } from '../format.ts';
import { brokenStream, newProgress, unreadableEvent } from '../stream-progress.ts';
import type { ToolNames } from '../tool-names.ts';
import { withCost } from '../shown-usage.ts';
import { readStreamFailure, writeError } from './errors.ts';
import { callIdPrefix, StreamedCalls } from './relay-calls.ts';
import { meterMessage } from './relay-meter.ts';
import { relayedNames, renameCalls } from './relay-tool-names.ts';
import { SimilarChunks } from './similar-chunks.ts';
import { isBrokenOff, isCutShort, readStop } from './stop.ts';
import { readUsage, showUsage, wantsStreamUsage } from './usage.ts';
import { countSearches } from './web-search.ts';
import { chunkHead, doneFrame } from './write-stream.ts';

export function relayStream(context: AnswerContext): StreamPipe<SseEvent> {
  const relay = new ChatStreamRelay(context);
  return {
    push: (event) => relay.push(event),
    end: () => relay.end(),
    limit: () => relay.limit(),
    close: (costUsd) => relay.close(costUsd),
    fail: (error, asked) => formatSse(null, JSON.stringify(writeError(error, asked))),
    progress: relay.progress,
  };
}

class ChatStreamRelay {
  readonly progress = newProgress();
  readonly #context: AnswerContext;
  readonly #wantsUsage: boolean;
  readonly #names: ToolNames | null;
  readonly #chunks = new SimilarChunks();
  /** The finish reason of each choice by index; null while it runs. */
  readonly #choices = new Map<number, string | null>();
  readonly #calls = new Map<number, StreamedCalls>();
  #hasToolCalls = false;
  #hasRefusal = false;
  /** The last usage that the upstream reported. */
  #reportedUsage: unknown = null;
  /** The upstream's chunk that holds only usage; null: none so far. The last chunk replaces it. */
  #usageChunk: JsonObject | null = null;
  /** The source of id and time for a usage chunk of our own. */
  #lastChunk: JsonObject = {};

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#wantsUsage = wantsStreamUsage(context.request);
    this.#names = relayedNames(context.request.body);
  }

  push(event: SseEvent): string {
    if (this.progress.status !== 'running' || event.data === '') return '';
    if (event.data.startsWith('[DONE]'))
      return this.#choices.size > 0
        ? this.#finish()
        : this.#fail(brokenStream('the stream has no answer'));
    const chunk = this.#chunks.parse(event.data);
    if (!isObject(chunk)) return this.#fail(unreadableEvent(event.data));
    const failure = readStreamFailure(event, chunk);
    if (!failure) return this.#relayChunk(chunk);
    this.#readUsage(chunk, { isAlone: false });
    return this.#fail(failure);
  }

  /**
   * Some hosts leave out `[DONE]`: the stream is complete when every choice has its finish reason.
   */
  end(): string {
    if (this.progress.status !== 'running') return '';
    return this.#hasReasons
      ? this.#finish()
      : this.#fail(brokenStream('the stream ended in mid-answer'));
  }

  get #hasReasons(): boolean {
    const reasons = [...this.#choices.values()];
    return reasons.length >= this.#context.request.choices && !reasons.includes(null);
  }

  /** Ends the stream as if the upstream had reached its limit. */
  limit(): string {
    const { id, object, created } = this.#lastChunk;
    // Azure's first chunk has no choice.
    if (this.#choices.size === 0) this.#choices.set(0, null);
    const open = [...this.#choices].filter(([, reason]) => reason === null);
    const choices = open.map(([index]) => ({ index, delta: {}, finish_reason: 'length' }));
    const last = choices.length === 0 ? '' : this.#relayChunk({ id, object, created, choices });
    return last + this.#finish();
  }

  /**
   * Sends the charge to a client that asked for usage, in a chunk of its own: the upstream's, or
   * one of ours when the upstream sent its usage beside a choice.
   */
  close(costUsd: number): string {
    if (!this.#wantsUsage) return doneFrame;
    const head = chunkHead(this.#context);
    const { id = head.id, created = head.created } = this.#lastChunk;
    const chunk = this.#usageChunk ?? { ...head, id, created, choices: [] };
    const usage = withCost(this.#shownUsage(), costUsd);
    return (
      formatSse(null, JSON.stringify({ ...chunk, model: this.#context.model, usage })) + doneFrame
    );
  }

  #relayChunk(chunk: JsonObject): string {
    // Clients iterate over the list and read each choice.
    const sent = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
    // Before the choices: one that broke off ends the stream, and is paid for all the same.
    this.#readUsage(chunk, { isAlone: sent.length === 0 });
    const choices = sent.map(this.#readChoice);
    if (this.progress.status !== 'running') return '';
    this.progress.isComplete = this.progress.usage !== null && this.#hasReasons;
    this.#lastChunk = chunk;
    this.progress.searches = countSearches(this.#context.request);
    if (chunk.usage !== undefined) {
      // The gateway requested the usage. So a chunk with only usage is held back, and a client that
      // did not ask for usage sees no `usage: null` either.
      if (choices.length === 0 && (chunk.usage !== null || !this.#wantsUsage)) return '';
    }
    const write = () => this.#writeChunk(chunk, choices);
    // A repair depends on earlier chunks.
    const isRepaired = choices.some((choice, index) => choice !== sent[index]);
    return isRepaired ? write() : this.#chunks.write(chunk, write);
  }

  #writeChunk(chunk: JsonObject, choices: readonly JsonObject[]): string {
    const edited = {
      ...chunk,
      ...(chunk.usage !== undefined && { usage: this.#wantsUsage ? null : undefined }),
      choices: this.#names ? choices.map(this.#renameChoice) : choices,
      model: this.#context.model,
    };
    return formatSse(null, JSON.stringify(edited));
  }

  readonly #renameChoice = (choice: JsonObject): JsonObject => {
    const { delta, message } = choice;
    const rename = (part: unknown) =>
      isObject(part) ? renameCalls(part, this.#names!.toClient) : part;
    return editFields(choice, { delta: rename(delta), message: rename(message) });
  };

  #readUsage(chunk: JsonObject, { isAlone }: { readonly isAlone: boolean }): void {
    const reported = readUsage(chunk);
    if (!reported) return;
    this.progress.usage = mergeUsage(this.progress.usage, reported);
    this.#reportedUsage = chunk.usage;
    if (isAlone) this.#usageChunk = chunk;
  }

  #shownUsage(): JsonObject {
    const { usage, output } = this.progress;
    const counted = countUsage(usage, { ...this.#context, outputBytes: output.bytes });
    return showUsage(this.#reportedUsage, counted);
  }

  /** Returns the choice as clients need it. */
  readonly #readChoice = (choice: JsonObject): JsonObject => {
    const { message, finish_reason: reason } = choice;
    const index = typeof choice.index === 'number' ? choice.index : 0;
    const hasReason = typeof reason === 'string' && reason !== '';
    // As in translation, the first chunk may hold a message; a later message repeats the deltas.
    // Azure's filter sends neither, and clients read the delta.
    const first = !this.#choices.has(index) && isObject(message) ? message : {};
    const sent = isObject(choice.delta) ? choice.delta : first;
    this.#readDelta(sent);
    const delta = this.#repairCalls(sent, { index, isOver: hasReason && !isCutShort(reason) });
    if (hasReason || !this.#choices.has(index)) this.#choices.set(index, hasReason ? reason : null);
    if (hasReason && isBrokenOff(reason))
      this.#fail(brokenStream(`the stream broke off: ${reason}`));
    if (choice.index === index && choice.delta === delta) return choice;
    return { ...choice, index, delta, ...(sent === message && { message: delta }) };
  };

  #readDelta(delta: JsonObject): void {
    meterMessage(this.progress.output, delta);
    if (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) this.#hasToolCalls = true;
    if (typeof delta.refusal === 'string' && delta.refusal !== '') this.#hasRefusal = true;
  }

  #repairCalls(
    delta: JsonObject,
    { index, isOver }: { index: number; isOver: boolean },
  ): JsonObject {
    const pieces: unknown[] = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
    const known = this.#calls.get(index);
    if (pieces.length === 0 && !(known && isOver)) return delta;
    const calls = known ?? new StreamedCalls(callIdPrefix(this.#context, index));
    if (!known) this.#calls.set(index, calls);
    const repaired = calls.repair(pieces);
    if (isOver) repaired.push(...calls.endPieces());
    const isRight =
      repaired.length === pieces.length && repaired.every((piece, at) => piece === pieces[at]);
    return isRight ? delta : { ...delta, tool_calls: repaired };
  }

  #finish(): string {
    const reasons = this.#choices;
    const reason = reasons.get(0) ?? reasons.values().next().value;
    this.progress.stop = readStop(reason, {
      hasToolCalls: this.#hasToolCalls,
      hasRefusal: this.#hasRefusal,
    });
    this.progress.status = 'finished';
    return '';
  }

  #fail(failure: UpstreamFailure): string {
    this.progress.status = 'failed';
    this.progress.failure = failure;
    return '';
  }
}
