// The stream of an answer whose web searches the gateway runs: the events of all turns as those of
// one response, with OpenAI's events for each search between them.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { AnswerContext, StreamProgress } from '../../formats/format.ts';
import { isSearchCall, searchItem, readQuery } from '../../formats/responses/hosted-search.ts';
import { inProgress, writeResponse } from '../../formats/responses/response-body.ts';
import { writeStop } from '../../formats/responses/stop.ts';
import { parseStreamEvent, writeEvent } from '../../formats/responses/stream-event.ts';
import { writeFailure } from '../../formats/responses/errors.ts';
import { writeUsage } from '../../formats/responses/usage.ts';
import { withCost } from '../../formats/shown-usage.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { SseParser } from '../../lib/sse.ts';
import { openFrames, type OpenFrames } from './frames.ts';
import { answerContextOf } from './head.ts';
import { callUpstream } from './call-upstream.ts';
import type { OwnSearch } from '../search/search-sources.ts';
import { bytesPerToken } from '../charging/used.ts';
import type { Called } from '../stages.ts';
import { SearchTurns, searchId } from './hosted-search.ts';

export function openSearches(
  called: Called,
  own: OwnSearch,
  chunks: AsyncIterable<Uint8Array>,
): OpenFrames {
  const pipe = new SearchStream(called, own);
  return { frames: pipe.run(chunks), pipe };
}

type Turn = {
  readonly pipe: OpenFrames['pipe'];
  /** The index that the client sees, by the index of this turn. */
  readonly shownIndices: Map<number, number>;
  /** Its items that are complete. */
  readonly items: JsonObject[];
};

class SearchStream {
  readonly progress: StreamProgress = {
    status: 'running',
    usage: null,
    stop: null,
    output: new OutputMeter(),
    failure: null,
  };
  readonly #called: Called;
  readonly #context: AnswerContext;
  readonly #turns: SearchTurns;
  #sequence = 0;
  #hasStarted = false;
  /** Items that the client has seen the beginning of. */
  #itemsShown = 0;
  /** The turn that runs. */
  #turn: Turn | null = null;
  /** Bytes of its output that are counted. */
  #countedBytes = 0;
  /** Ends the item of the search that runs. */
  #endSearch: (() => string) | null = null;

  constructor(called: Called, own: OwnSearch) {
    this.#called = called;
    this.#context = answerContextOf(called);
    this.#turns = new SearchTurns(called, own);
  }

  async *run(first: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
    const { unseen } = this.#called.call;
    for (let chunks = first; ;) {
      const { current } = this.#turns;
      const opened = openFrames(current, chunks);
      const turn: Turn = { pipe: opened.pipe, shownIndices: new Map(), items: [] };
      this.#turn = turn;
      for await (const text of opened.frames) {
        const frames = this.#show(turn, text);
        this.#note(turn);
        yield frames;
      }
      const { status, stop, failure, usage, output } = turn.pipe.progress;
      const calls =
        status === 'finished'
          ? this.#turns.end({ items: turn.items, usage, outputBytes: output.bytes })
          : [];
      // Tokens of this turn that nobody saw stay counted when the next turn adds its output.
      const writtenBytes = (this.#turns.usage?.outputTokens ?? 0) * bytesPerToken;
      this.progress.output.addBytes(Math.max(writtenBytes - this.progress.output.bytes, 0));
      for (const call of calls) {
        yield this.#beginSearch(call);
        const id = searchId(this.#called, this.#itemsShown - 1);
        const item = await this.#turns.search(call, id).finally(() => unseen.noteOwnWait());
        this.progress.searches = this.#turns.searches;
        yield this.#finishSearch(item);
      }
      if (calls.length === 0 || !this.#turns.next()) {
        Object.assign(this.progress, { status, stop, failure });
        return;
      }
      const { spentMs } = this.#turns;
      const reply = await callUpstream(this.#turns.current, { stream: true, spentMs });
      if (reply.kind === 'failure') {
        this.progress.usage = this.#turns.usageAfter(reply);
        // The earlier turns were complete, so their count is final.
        this.progress.isComplete = reply.isWhole || reply.failure.kind === 'status';
        throw new UpstreamBroken(this.#turns.failureOf(reply));
      }
      ({ chunks } = reply);
      unseen.noteOwnWait();
    }
  }

  limit(): string {
    const turn = this.#turn!;
    const isWriting = turn.pipe.progress.status === 'running';
    const frames = isWriting ? this.#show(turn, turn.pipe.limit()) : (this.#endSearch?.() ?? '');
    this.progress.status = 'finished';
    this.progress.stop = { reason: 'length', sequence: null };
    return frames;
  }

  close(costUsd: number): string {
    const { stop, usage, output } = this.progress;
    const { shown } = this.#turns;
    const hasRefusal = JSON.stringify(shown).includes('"type":"refusal"');
    const end = writeStop(stop ?? { reason: 'end', sequence: null }, hasRefusal);
    const counted = countUsage(usage, { ...this.#context, outputBytes: output.bytes });
    const response = writeResponse(this.#context, {
      ...end,
      output: shown,
      usage: withCost(writeUsage(counted), costUsd),
    });
    // Does not advance the sequence: `fail` may send another event instead.
    return writeEvent(`response.${end.status}`, this.#sequence, { response });
  }

  fail(error: ApiError, context: ErrorContext): string {
    const begin = this.#start();
    const response = writeResponse(this.#context, { ...inProgress, output: this.#turns.shown });
    return begin + writeFailure({ error, context, response, sequence: this.#sequence });
  }

  /** Returns the events of the turn as the client sees them. */
  #show(turn: Turn, text: string): string {
    let frames = '';
    for (const event of new SseParser().push(Buffer.from(text))) {
      const message = parseStreamEvent(event);
      if (isObject(message)) frames += this.#showEvent(turn, message.type, message.payload);
    }
    return frames;
  }

  /** Counts what has come, over all turns. */
  #note({ pipe: { progress } }: Turn): void {
    const { status, usage, output, isOpening } = progress;
    this.progress.isOpening = isOpening ?? false;
    this.progress.output.addBytes(output.bytes - this.#countedBytes);
    this.#countedBytes = status === 'running' ? output.bytes : 0;
    const outputBytes = status === 'finished' ? output.bytes : 0;
    this.progress.usage = this.#turns.usageWith(usage, outputBytes);
  }

  #showEvent(turn: Turn, type: string, payload: JsonObject): string {
    const { output_index: index, item, type: _, sequence_number: _number, ...fields } = payload;
    if (typeof index !== 'number') return type === 'response.created' ? this.#start() : '';
    if (type === 'response.output_item.added' && isObject(item) && !isSearchCall(item))
      turn.shownIndices.set(index, this.#itemsShown++);
    if (type === 'response.output_item.done' && isObject(item)) {
      turn.items.push(item);
      if (!isSearchCall(item)) this.#turns.shown.push(item);
    }
    const shownIndex = turn.shownIndices.get(index);
    return shownIndex === undefined
      ? ''
      : this.#event(type, { ...fields, output_index: shownIndex, ...(isObject(item) && { item }) });
  }

  #start(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const response = writeResponse(this.#context, inProgress);
    return (
      this.#event('response.created', { response }) +
      this.#event('response.in_progress', { response })
    );
  }

  #beginSearch(call: JsonObject): string {
    const index = this.#itemsShown++;
    const id = searchId(this.#called, index);
    const query = readQuery(call);
    const item = searchItem(id, { query, status: 'in_progress' });
    const about = { item_id: id, output_index: index };
    this.#endSearch = () => this.#finishSearch(searchItem(id, { query, status: 'failed' }));
    return (
      this.#event('response.output_item.added', { output_index: index, item }) +
      this.#event('response.web_search_call.in_progress', about) +
      this.#event('response.web_search_call.searching', about)
    );
  }

  #finishSearch(item: JsonObject): string {
    this.#endSearch = null;
    const index = this.#itemsShown - 1;
    this.#turns.shown.push(item);
    const about = { item_id: item.id, output_index: index };
    const completed =
      item.status === 'completed' ? this.#event('response.web_search_call.completed', about) : '';
    return completed + this.#event('response.output_item.done', { output_index: index, item });
  }

  #event(type: string, fields: JsonObject): string {
    return writeEvent(type, this.#sequence++, fields);
  }
}
