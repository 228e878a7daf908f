// The straight path for a stream. An event that needs no edit is sent on as the text it arrived in.
// The edits: the catalogue's model, a function call's id, an inserted reasoning item before the
// first item, which moves up all later indices, an index for each item, and gapless sequence numbers.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import { isObject, type JsonObject, listOf, textOf } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import { editText } from '../edit-json.ts';
import { AnswerStream } from '../answer-stream.ts';
import { LastEvent } from '../last-event.ts';
import type { AnswerContext, StreamPipe } from '../format.ts';
import { readFailure, writeFailure } from './errors.ts';
import { emptyReasoningItem, wantsReasoningItem } from './output-item.ts';
import { inspectOutput, isReasoning, relayItem, relayResponse } from './relay-output.ts';
import { OpenItems } from './open-items.ts';
import { inProgress, writeResponse } from './response-body.ts';
import { readStop } from './stop.ts';
import { parseStreamEvent, responseOf, type StreamMessage, writeEvent } from './stream-event.ts';
import { StreamItems } from './stream-items.ts';
import { repeatedStart, unreadableEvent } from '../stream-progress.ts';
import type { ToolNames } from '../tool-names.ts';
import { asReasoningText, wantsReasoningText } from './summary-as-text.ts';
import { withCost } from '../shown-usage.ts';
import { readUsage, writeUsage } from './usage.ts';
import { countSearches, isSearchDone } from './web-search.ts';

/**
 * The final event, `response.completed` or `response.incomplete`, is held back for `close`. A
 * failure is never sent on.
 */
export function relayStream(context: AnswerContext): StreamPipe<SseEvent> {
  return new ResponseStreamRelay(context);
}

class ResponseStreamRelay extends AnswerStream {
  readonly #names: ToolNames | null;
  readonly #wantsText: boolean;
  readonly #lastEvent = new LastEvent();
  #sequence = 0;
  /** The response as the client last saw it. */
  #response: JsonObject | null = null;
  /**
   * Finished items by the client's index: for failures, and for hosts whose final response is
   * empty.
   */
  readonly #items = new Map<number, unknown>();
  readonly #open = new OpenItems();
  /** The indices of the upstream's items, each its own: OpenAI's SDK fails on a second one. */
  readonly #places = new StreamItems<number>();
  readonly #taken = new Set<number>();
  /** The first index behind all that are taken. */
  #nextPlace = 0;
  /** The client's ids of function calls, by the upstream's. */
  readonly #callIds = new Map<string, string>();
  /** The number of items before the upstream's first; null until that has arrived. */
  #shift: 0 | 1 | null = null;
  #last: { readonly type: string; readonly response: JsonObject } | null = null;

  constructor(context: AnswerContext) {
    super(context);
    this.#names = context.toolNames ?? null;
    this.#wantsText = wantsReasoningText(context.request.body);
  }

  get #relaying() {
    return { context: this.context, names: this.#names };
  }

  push(event: SseEvent): string {
    if (this.progress.status !== 'running') return '';
    const isRepeated = this.#lastEvent.isRepeated(event.data);
    const message = parseStreamEvent(event);
    if (message === null) return '';
    if (message === 'unreadable') return this.breakOff(unreadableEvent(event.data));
    const { type, payload } = message;
    if (isRepeated && type === 'response.output_item.added') return this.breakOff(repeatedStart());
    switch (type) {
      case 'response.completed':
      case 'response.incomplete':
        return this.#finishItems(type, responseOf(payload));
      case 'response.failed':
      case 'response.cancelled':
      case 'error':
        this.progress.usage = readUsage(responseOf(payload));
        this.progress.isComplete = this.progress.usage !== null;
        return this.breakOff(readFailure(payload.response ?? payload));
      case 'response.output_item.added':
        return this.#beforeItem(payload.item) + this.#pass(message, event.data);
      case 'response.created':
        return this.#response ? this.#startAgain(payload) : this.#pass(message, event.data);
      default:
        return this.#pass(message, event.data);
    }
  }

  /**
   * Some hosts send the event twice, which clients report as their own bug. Another answer is that of a
   * host that lost its own upstream (github.com/mnfst/llm-gateway/issues/2072, read 2026-12-01).
   */
  #startAgain(payload: JsonObject): string {
    const id = textOf(responseOf(payload).id);
    return id !== '' && id === this.#response?.id ? '' : this.breakOff(repeatedStart());
  }

  limit(): string {
    const begin = this.#begin();
    const response = {
      ...this.#response,
      incomplete_details: { reason: 'max_output_tokens' },
      output: [],
      usage: null,
    };
    return begin + this.#finishItems('response.incomplete', response);
  }

  close(costUsd: number): string {
    if (!this.#last) return '';
    const { type, response } = this.#last;
    // Does not advance the sequence: `fail` may send another event instead.
    return writeEvent(type, this.#sequence, {
      response: { ...response, usage: withCost(response.usage, costUsd) },
    });
  }

  fail(error: ApiError, context: ErrorContext): string {
    const begin = this.#begin();
    const response = { ...this.#response, output: this.#finished() };
    return begin + writeFailure({ error, context, response, sequence: this.#sequence });
  }

  /** Writes what the start lacks when a stream ends here: its first two events, or the second. */
  #begin(): string {
    const hasCreated = this.#response !== null;
    const response = (this.#response ??= writeResponse(this.context, inProgress));
    if (this.#sequence > 1) return '';
    const created = hasCreated ? '' : this.#event('response.created', { response });
    return created + this.#event('response.in_progress', { response });
  }

  /** Inserts a reasoning item if the first item is not reasoning. */
  #beforeItem(item: unknown): string {
    if (this.#shift !== null) return '';
    this.#shift = wantsReasoningItem(this.context.request) && !isReasoning(item) ? 1 : 0;
    if (this.#shift === 0) return '';
    const inserted = emptyReasoningItem(this.context);
    this.#items.set(0, inserted);
    return (
      this.#event('response.output_item.added', { output_index: 0, item: inserted }) +
      this.#event('response.output_item.done', { output_index: 0, item: inserted })
    );
  }

  #pass(message: StreamMessage, data: string): string {
    this.#meterEvent(message.type, message.payload);
    this.#open.track(message.type, message.payload);
    const shown = this.#wantsText ? asReasoningText(message) : message;
    if (!shown) return '';
    const { type, payload } = shown;
    const edits = this.#editsOf(type, payload);
    const sequence = this.#sequence++;
    if (payload.sequence_number !== sequence) edits.sequence_number = sequence;
    const isUntouched =
      shown === message && Object.keys(edits).length === 0 && !data.includes('\n');
    if (isUntouched) return formatSse(type, data);
    return formatSse(type, JSON.stringify({ ...payload, ...edits }));
  }

  /**
   * Measures what the client has received so far. Reasoning that OpenAI hides arrives sealed, with
   * its finished item.
   */
  #meterEvent(type: string, { delta, item }: JsonObject): void {
    if (typeof delta === 'string' && type.startsWith('response.reasoning'))
      this.progress.output.addReasoning(delta);
    else if (typeof delta === 'string') this.progress.output.addText(delta);
    else if (type === 'response.output_item.done' && isObject(item))
      this.progress.output.addSealed(textOf(item.encrypted_content));
  }

  #editsOf(type: string, payload: JsonObject): Record<string, unknown> {
    const edits: Record<string, unknown> = {};
    if (payload.type !== type) edits.type = type;
    if (typeof payload.output_index === 'number') {
      const index = this.#placeOf(type, payload, payload.output_index) + (this.#shift ?? 0);
      if (index !== payload.output_index) edits.output_index = index;
    }
    const callId =
      typeof payload.item_id === 'string' ? this.#callIds.get(payload.item_id) : undefined;
    if (callId !== undefined) edits.item_id = callId;
    // OpenAI repeats the function's name with the whole arguments.
    const { name } = payload;
    const clientName = editText(name, (sent) => this.#names?.toClient(sent) ?? sent);
    if (type === 'response.function_call_arguments.done' && clientName !== name)
      edits.name = clientName;
    if (isObject(payload.arguments)) edits.arguments = JSON.stringify(payload.arguments);
    if (payload.item !== undefined) this.#editItem(type, payload, edits);
    if (isObject(payload.response)) {
      this.#response = relayResponse(
        payload.response,
        this.#relayOutput(payload.response),
        this.#relaying,
      );
      edits.response = this.#response;
    }
    return edits;
  }

  #placeOf(type: string, payload: JsonObject, index: number): number {
    const isAdded = type === 'response.output_item.added';
    const known = isAdded ? this.#places.findAdded(payload) : this.#places.find(payload);
    if (known !== null) return known;
    const place = this.#taken.has(index) ? this.#nextPlace : index;
    this.#places.add(payload, place);
    this.#taken.add(place);
    this.#nextPlace = Math.max(this.#nextPlace, place + 1);
    return place;
  }

  #editItem(type: string, payload: JsonObject, edits: Record<string, unknown>): void {
    const { item } = payload;
    const { output_index: index = payload.output_index } = edits;
    const relayed = relayItem(item, this.#names);
    if (relayed !== item) {
      edits.item = relayed;
      const { id } = item as JsonObject;
      if (typeof id === 'string') this.#callIds.set(id, (relayed as { id: string }).id);
    }
    if (type !== 'response.output_item.done') return;
    this.#places.end(payload);
    if (isSearchDone(item)) this.progress.searches = (this.progress.searches ?? 0) + 1;
    if (typeof index === 'number') this.#items.set(index, relayed);
  }

  #relayOutput(response: JsonObject): unknown[] {
    const output = listOf(response.output);
    const items = output.map((item) => relayItem(item, this.#names));
    return this.#shift === 1 ? [this.#items.get(0), ...items] : items;
  }

  #finishItems(type: string, final: JsonObject): string {
    // Some hosts send only the usage in the last event.
    const response: JsonObject =
      final.id === undefined ? { ...this.#response, output: [], ...final } : final;
    const hasOutput = Array.isArray(response.output) && response.output.length > 0;
    const firstItem: unknown = hasOutput ? (response.output as unknown[])[0] : undefined;
    const status = type.slice('response.'.length);
    const frames = this.#beforeItem(firstItem) + (hasOutput ? '' : this.#closeItems(status));
    const output = hasOutput ? this.#relayOutput(response) : this.#finished();
    const { content, ...has } = inspectOutput(output);
    this.progress.output.raiseTo(content);
    this.noteUsage(readUsage(response));
    this.progress.searches = countSearches(response, output);
    this.progress.stop = readStop({ ...response, status }, has);
    this.progress.status = 'finished';
    const counted = this.counted();
    const usage =
      counted === this.progress.usage && response.usage ? response.usage : writeUsage(counted);
    this.#last = {
      type,
      response: { ...relayResponse(response, output, this.#relaying), status, usage },
    };
    return frames;
  }

  /** Some hosts end neither their items nor the output (github.com/lidge-jun/opencodex/issues/893). */
  #closeItems(status: string): string {
    return this.#open
      .closingEvents(status)
      .map(({ type, payload }) => this.#pass({ type, payload: { type, ...payload } }, ''))
      .join('');
  }

  /** They may have ended in another order. */
  #finished(): unknown[] {
    return [...this.#items].toSorted(([one], [other]) => one - other).map(([, item]) => item);
  }

  #event(type: string, fields: JsonObject): string {
    return writeEvent(type, this.#sequence++, fields);
  }
}
