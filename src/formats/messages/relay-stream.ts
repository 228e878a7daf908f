// The straight path for a stream. Each event is sent on as the text it arrived in, except the
// first, which names the model, and the last two, which wait for the charge: `message_delta` with
// the usage, and `message_stop`.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import { AnswerStream } from '../answer-stream.ts';
import { LastEvent } from '../last-event.ts';
import type { AnswerContext, StreamPipe } from '../format.ts';
import { readFailure, writeError } from './errors.ts';
import { meterBlock, meterBlockStart, meterDelta, wholeInputOf } from './relay-meter.ts';
import { renameBlock } from './relay-tool-names.ts';
import { safeguardResults } from './safeguards.ts';
import { isUnsigned, sealSignature } from './signature.ts';
import { readStop, repairReason } from './stop.ts';
import { isOpenCall, withObjectInput } from './tool-input.ts';
import { parseEvent, typeOf } from './stream-event.ts';
import { repeatedStart, unreadableEvent } from '../stream-progress.ts';
import type { ToolNames } from '../tool-names.ts';
import { inOwnWords, StreamUsage, writeMessageUsage, writeUsage } from './usage.ts';
import { isSearchDone, readSearches } from './web-search.ts';
import { missingHead } from './write-answer.ts';
import { withCost, shownUsage } from '../shown-usage.ts';

export function relayStream(context: AnswerContext): StreamPipe<SseEvent> {
  return new MessageStreamRelay(context);
}

class MessageStreamRelay extends AnswerStream {
  readonly #names: ToolNames | null;
  readonly #usage = new StreamUsage();
  readonly #lastEvent = new LastEvent();
  #hasStarted = false;
  #id: unknown = null;
  /**
   * `message_delta` with the stop reason: the upstream's, once it has arrived, with the latest
   * usage.
   */
  #end: JsonObject = {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
  };
  /** `message_stop`: the upstream's, once it has arrived. */
  #stopFrame = formatSse('message_stop', '{"type":"message_stop"}');
  /** `safeguard_results` of a `message_delta`; null: none came. */
  #verdicts: readonly unknown[] | null = null;
  #openIndex: unknown = null;
  #blocks = 0;
  /** The index of each block for the client, by the upstream's. */
  readonly #places = new Map<unknown, number>();
  #hasCalls = false;
  /** The open block is reasoning without a signature so far. */
  #isUnsigned = false;
  /** The input of the open call from its start, until a delta repeats it. */
  #wholeInput = '';

  constructor(context: AnswerContext) {
    super(context);
    this.#names = context.toolNames ?? null;
  }

  push(raw: SseEvent): string {
    if (this.progress.status !== 'running') return '';
    const isRepeated = this.#lastEvent.isRepeated(raw.data);
    const event = parseEvent(raw.data);
    if (event === 'terminator') return '';
    if (!event) return this.breakOff(unreadableEvent(raw.data));
    const type = typeOf(raw, event);
    if (isRepeated && type === 'content_block_start') return this.breakOff(repeatedStart());
    return type.startsWith('content_block_')
      ? this.#relayInPlace(raw, event, type)
      : this.#relay(raw, event, type);
  }

  /**
   * SDKs find a block by its place among the blocks. Ollama begins one at the index of another that has not
   * ended (github.com/ollama/ollama/issues/17101, read 2026-11-30).
   */
  #relayInPlace(raw: SseEvent, event: JsonObject, type: string): string {
    let ended = '';
    if (type === 'content_block_start') {
      if (this.#places.get(event.index) === this.#openIndex) ended = this.#endBlock();
      this.#places.set(event.index, this.#blocks++);
    }
    const index = this.#places.get(event.index) ?? event.index;
    if (index === event.index) return ended + this.#relay(raw, event, type);
    const placed = { ...event, index };
    return ended + this.#relay({ event: type, data: JSON.stringify(placed) }, placed, type);
  }

  #relay(raw: SseEvent, event: JsonObject, type: string): string {
    switch (type) {
      case 'message_start': {
        // Clients report a second start as their own bug.
        const { id } = objectOf(event.message);
        if (this.#hasStarted)
          return textOf(id) !== '' && id === this.#id ? '' : this.breakOff(repeatedStart());
        this.#id = id;
        return this.#relayStart(raw, event);
      }
      case 'content_block_start':
        if (isSearchDone(event.content_block))
          this.progress.searches = (this.progress.searches ?? 0) + 1;
        this.#openIndex = event.index;
        this.#isUnsigned = isUnsigned(event.content_block);
        this.#hasCalls ||= isOpenCall(event.content_block);
        meterBlockStart(this.progress.output, event.content_block);
        this.#wholeInput = wholeInputOf(event.content_block);
        return this.#relayBlock(raw, event);
      case 'content_block_delta':
        meterDelta(this.progress.output, event.delta);
        this.#wholeInput = '';
        this.#isUnsigned &&= textOf(objectOf(event.delta).signature) === '';
        return frameOf(raw, event);
      case 'content_block_stop':
        this.#openIndex = null;
        this.progress.output.addText(this.#wholeInput);
        this.#wholeInput = '';
        return this.#sign(event.index) + frameOf(raw, event);
      case 'message_delta':
        return this.#keepEnd(raw, event);
      case 'message_stop':
        this.#stopFrame = frameOf(raw, event);
        return this.#finishWhole();
      case 'error':
        return this.breakOff(readFailure(event));
      // Vertex's own count, which SDKs refuse: github.com/vercel/ai/issues/13436 (read 2026-11-30).
      case 'vertex_event':
        return '';
      default:
        return frameOf(raw, event);
    }
  }

  /**
   * As in translation, a stop reason makes the answer complete; `close` adds the missing last
   * event.
   */
  override end(): string {
    const isWhole = this.progress.status === 'running' && this.progress.stop !== null;
    return isWhole ? this.#finishWhole() : super.end();
  }

  /** Ends the stream as if the upstream had reached its limit. */
  limit(): string {
    const push = (event: JsonObject & { type: string }) =>
      this.push({ event: event.type, data: JSON.stringify(event) });
    const blockEnd = this.#endBlock();
    const delta = { stop_reason: 'max_tokens', stop_sequence: null };
    const end = push({ type: 'message_delta', delta, usage: writeUsage(this.counted()) });
    return blockEnd + end + push({ type: 'message_stop' });
  }

  #endBlock(): string {
    if (this.#openIndex === null) return '';
    const event = { type: 'content_block_stop', index: this.#openIndex };
    return this.#relay({ event: event.type, data: JSON.stringify(event) }, event, event.type);
  }

  /**
   * When the upstream has counted nothing by the end, the client gets our own count, on which the
   * charge is based.
   */
  close(costUsd: number): string {
    const counted = this.counted();
    const { usage: reported } = this.#end;
    const usage =
      counted === this.progress.usage && isObject(reported) ? reported : writeUsage(counted);
    const results = safeguardResults(this.context.request.body, this.#verdicts);
    const delta = { ...(this.#end.delta as JsonObject), ...results };
    return (
      formatSse(
        'message_delta',
        JSON.stringify({ ...this.#end, delta, usage: withCost(usage, costUsd) }),
      ) + this.#stopFrame
    );
  }

  #relayBlock(raw: SseEvent, event: JsonObject): string {
    const block = withObjectInput(event.content_block);
    const named = this.#names && isObject(block) ? renameBlock(block, this.#names.toClient) : block;
    return named === event.content_block
      ? frameOf(raw, event)
      : writeFrame(raw, { ...event, content_block: named });
  }

  #sign(index: unknown): string {
    if (!this.#isUnsigned) return '';
    this.#isUnsigned = false;
    const delta = { type: 'signature_delta', signature: sealSignature(null) };
    const event = { type: 'content_block_delta', index, delta };
    return formatSse(event.type, JSON.stringify(event));
  }

  #relayStart(raw: SseEvent, event: JsonObject): string {
    this.#hasStarted = true;
    const { message } = event;
    if (!isObject(message)) return frameOf(raw, event);
    this.#usage.start(message.usage);
    this.progress.usage = this.#usage.soFar;
    this.#blocks = listOf(message.content).length;
    for (const block of listOf(message.content)) {
      meterBlock(this.progress.output, block);
      this.#hasCalls ||= isOpenCall(block);
    }
    const { model, request } = this.context;
    // Clients merge later counts into the start's usage. Without one, SDKs throw.
    const usage = this.progress.usage
      ? shownUsage(inOwnWords(message.usage))
      : writeMessageUsage(this.counted(), request);
    const filled = { ...message, ...missingHead(message, this.context), model, usage };
    return writeFrame(raw, { ...event, message: filled });
  }

  #keepEnd(raw: SseEvent, event: JsonObject): string {
    const { delta } = event;
    const usage = inOwnWords(event.usage);
    if (isObject(delta) && Array.isArray(delta.safeguard_results))
      this.#verdicts = delta.safeguard_results;
    this.#usage.update(event.usage);
    this.progress.usage = this.#usage.soFar;
    this.progress.searches = readSearches(usage) ?? this.progress.searches;
    if (isObject(delta) && typeof delta.stop_reason === 'string') {
      const reason = repairReason(delta.stop_reason, this.#hasCalls);
      this.progress.stop = readStop(reason, delta.stop_sequence);
      this.progress.isComplete = true;
      const ended = { ...delta, stop_reason: reason };
      this.#end = { ...event, type: 'message_delta', delta: ended, usage };
      return '';
    }
    // Counts are totals, so those after the stop reason replace earlier ones.
    if (this.progress.stop) {
      this.#end = { ...this.#end, usage: usage ?? this.#end.usage };
      return '';
    }
    const shown = shownUsage(usage);
    return shown === event.usage
      ? frameOf(raw, event)
      : writeFrame(raw, { ...event, usage: shown });
  }

  fail(error: ApiError, asked: ErrorContext): string {
    return formatSse('error', JSON.stringify(writeError(error, asked)));
  }

  #finishWhole(): string {
    this.progress.status = 'finished';
    if (this.progress.stop === null) {
      const reason = repairReason('end_turn', this.#hasCalls);
      this.progress.stop = readStop(reason, null);
      this.#end = { ...this.#end, delta: { stop_reason: reason, stop_sequence: null } };
    }
    return '';
  }
}

/** A frame's data is one line. JSON that arrived in several lines is written anew. */
function frameOf(raw: SseEvent, event: JsonObject): string {
  if (raw.data.includes('\n')) return writeFrame(raw, event);
  return formatSse(typeOf(raw, event) || null, raw.data);
}

/** `raw`: the event as it came. */
function writeFrame(raw: SseEvent, event: JsonObject): string {
  return formatSse(typeOf(raw, event) || null, JSON.stringify(event));
}
