// Runs the web searches of a model whose provider has none, on Responses. The model calls a
// function, the gateway searches and asks the model again with what was found, and the client sees
// one answer. All calls are made under one hold, and their usage is charged as one.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { ApiError } from '../../canonical/errors.ts';
import { countUsage, noUsage, type Usage } from '../../canonical/usage.ts';
import { queryCharactersMax, resultsByDefault } from '../../domain/search/search-request.ts';
import type { SearchResult } from '../../domain/search/search-result.ts';
import {
  callOutput,
  continueWith,
  isClientCall,
  isSearchCall,
  readQuery,
  searchItem,
} from '../../formats/responses/hosted-search.ts';
import { writeUsage } from '../../formats/responses/usage.ts';
import type { RelayedAnswer } from '../../formats/format.ts';
import { OutputMeter } from '../../canonical/output-bytes.ts';
import type { JsonObject } from '../../lib/json.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import type { FailedCall } from '../calling/failed-call.ts';
import { lighten } from '../routing/lighten.ts';
import { nextStepAfter } from '../calling/retry-policy.ts';
import type { OwnSearch } from '../search/search-sources.ts';
import { writeUpstreamRequest } from '../routing/write-request.ts';
import type { Called } from '../stages.ts';
import { answerContextOf } from './head.ts';
import type { CallResult } from './model-calls.ts';

/** A turn of the model that has ended. */
type Turn = {
  readonly items: readonly JsonObject[];
  readonly usage: Usage | null;
  readonly outputBytes: number;
};

/** The turns of one answer. */
export class SearchTurns {
  /** The call of the current turn. */
  current: Called;
  /** The answer's items so far, as the client sees them. */
  readonly shown: JsonObject[] = [];
  /** Searches that found something, which are charged. */
  searches = 0;
  readonly #first: Called;
  readonly #own: OwnSearch;
  readonly #startedAtMs: number;
  /** Searches that were sent to a provider, whatever came of them. */
  #searchesSent = 0;
  #turns = 0;
  /**
   * The items of the turn that has ended, and the outputs of its searches: the model reads both.
   */
  #items: readonly JsonObject[] = [];
  #outputs: JsonObject[] = [];
  /** The usage of all turns that have ended; null: none has. */
  usage: Usage | null = null;

  constructor(called: Called, own: OwnSearch) {
    this.#first = called;
    this.current = called;
    this.#own = own;
    this.#startedAtMs = called.gateway.clock.elapsedMs();
  }

  get spentMs(): number {
    return this.#first.gateway.clock.elapsedMs() - this.#startedAtMs;
  }

  /** Returns the usage of all turns. `reported`: the provider's count of the current one. */
  usageWith(reported: Usage | null, outputBytes = 0): Usage | null {
    return this.usage ? this.#totalWith(reported, outputBytes) : reported;
  }

  #totalWith(reported: Usage | null, outputBytes: number): Usage {
    const estimatedInputTokens = this.current.asked.estimate.likely;
    const counted = countUsage(reported, { estimatedInputTokens, outputBytes });
    return this.usage ? add(this.usage, counted) : counted;
  }

  /**
   * Returns the failure of a call after billed turns. A refusal counts against the account, which
   * may be able to repeat it.
   */
  failureOf({ failure }: FailedCall): UpstreamFailure {
    const isRefusal = failure.kind === 'status' && nextStepAfter(failure) === 'never';
    return isRefusal ? { ...failure, isCausedByAccount: true } : failure;
  }

  /** Returns the usage after a failed call, which counts when its host had probably begun. */
  usageAfter({ failure: { kind }, progress }: FailedCall): Usage | null {
    if (kind === 'status' || kind === 'connection') return this.usage;
    return this.usageWith(progress.usage, progress.output.bytes);
  }

  /**
   * Ends a turn. Returns the searches to run; none when the answer is complete: the model has not
   * searched, it has called functions of the client too, or it may not be asked again.
   */
  end({ items, usage, outputBytes }: Turn): readonly JsonObject[] {
    const { terms, call } = this.#first;
    const { model, estimate } = this.current.asked;
    const total = this.#totalWith(usage, outputBytes);
    const calls = items.filter(isSearchCall);
    const { searchesMax } = call.attempt.search!;
    const found = Math.min(calls.length, searchesMax);
    const isLast =
      calls.length === 0 ||
      items.some(isClientCall) ||
      this.#isLeft ||
      this.#turns >= searchesMax ||
      total.outputTokens >= terms.granted.maxOutputTokens ||
      estimate.upper + found * resultTokensMax > model.contextTokens;
    if (isLast) return [];
    this.usage = total;
    this.#items = items;
    this.#outputs = [];
    return calls;
  }

  /** True when nobody will read the rest; never where it may be stored. */
  get #isLeft(): boolean {
    const { running, names } = this.#first;
    return running.client.isGone() && !names.request && !names.cache;
  }

  /**
   * Searches, and returns the item that the client sees. The model reads what was found, or why the
   * search failed, which is never charged.
   */
  async search(call: JsonObject, id: string): Promise<JsonObject> {
    const query = readQuery(call)?.slice(0, queryCharactersMax) ?? null;
    const found = query === null ? 'The call needs a query.' : await this.#find(query);
    const hasFailed = typeof found === 'string';
    this.#outputs.push(callOutput(call, hasFailed ? found : writeResults(found)));
    return searchItem(id, { query, status: hasFailed ? 'failed' : 'completed' });
  }

  async #find(query: string): Promise<readonly SearchResult[] | string> {
    const { caller, running, call } = this.#first;
    const { record } = caller;
    const { run, hold } = running;
    const { attempt, number } = call;
    if (this.#searchesSent >= attempt.search!.searchesMax || this.#isLeft)
      return 'The request allows no more searches. Answer with what was found.';
    this.#searchesSent += 1;
    const asked = { query, num: resultsByDefault, record };
    const found = await this.#own.searcher.search(asked, run);
    // Beside the losses of calls, so under another number.
    const callNumber = 1_000 * number + this.#searchesSent;
    await hold.bookLossBeside({ lossMicros: this.#own.lossOf(found.lost), callNumber });
    if (found.kind === 'failure') return 'The search failed. Answer without it.';
    this.searches += 1;
    return found.results;
  }

  /**
   * Goes to the next turn. Its output limit is what the others have left. Returns false when its
   * request is beyond a limit, or its client has left: then the answer is complete.
   */
  next(): boolean {
    if (this.#isLeft) return false;
    try {
      this.current = this.#writeNext();
      return true;
    } catch (error) {
      if (error instanceof ApiError) return false;
      throw error;
    }
  }

  #writeNext(): Called {
    this.#turns += 1;
    const { current } = this;
    const { route, search } = current.call.attempt;
    const request = continueWith(current.asked.request, this.#items, this.#outputs);
    const outputTokens = this.#first.terms.granted.maxOutputTokens - this.usage!.outputTokens;
    const asked = { ...current.asked, request, estimate: estimateInputTokens(request.body) };
    const written = writeUpstreamRequest(asked, { route, search, outputTokens });
    const attempt = { ...current.call.attempt, written };
    const lighter = lighten(current.gateway.hosts.routing, attempt, attempt);
    return {
      ...current,
      // Items get their ids from it.
      caller: { ...current.caller, requestId: `${this.#first.caller.requestId}_${this.#turns}` },
      asked,
      call: { ...current.call, attempt: lighter ?? attempt },
    };
  }
}

/** As one call without a stream. `callTurn` calls the model. */
export async function answerWithSearches(
  called: Called,
  own: OwnSearch,
  callTurn: (turn: Called, spentMs: number) => Promise<CallResult<RelayedAnswer>>,
): Promise<CallResult<RelayedAnswer>> {
  const turns = new SearchTurns(called, own);
  let outputBytes = 0;
  for (;;) {
    const tried = await callTurn(turns.current, turns.spentMs);
    if (tried.kind === 'failure') return failedAfter(tried, turns, outputBytes);
    const { answer } = tried;
    const items = answer.body.output as readonly JsonObject[];
    const all = turns.usageWith(answer.usage, answer.outputBytes);
    const calls = turns.end({ items, usage: answer.usage, outputBytes: answer.outputBytes });
    outputBytes += answer.outputBytes;
    turns.shown.push(...items.filter((item) => !isSearchCall(item)));
    for (const call of calls)
      turns.shown.push(await turns.search(call, searchId(called, turns.shown.length)));
    if (calls.length === 0 || !turns.next())
      return { kind: 'answered', answer: whole(turns, { ...answer, usage: all, outputBytes }) };
  }

  function whole({ shown, searches }: SearchTurns, answer: RelayedAnswer): RelayedAnswer {
    const context = answerContextOf(called);
    const usage = countUsage(answer.usage, { ...context, outputBytes: answer.outputBytes });
    const id = `resp_${context.requestId}`;
    return {
      ...answer,
      body: { ...answer.body, id, output: shown, usage: writeUsage(usage) },
      searches,
    };
  }
}

export function searchId({ caller }: Called, index: number): string {
  return `ws_${caller.requestId.slice('req_'.length)}_${index}`;
}

/** Earlier turns were complete, so the provider bills them. */
function failedAfter(failed: FailedCall, turns: SearchTurns, outputBytes: number): FailedCall {
  if (!turns.usage) return failed;
  const isWhole = failed.isWhole || failed.failure.kind === 'status';
  const usage = turns.usageAfter(failed);
  const output = new OutputMeter();
  output.addBytes(outputBytes + failed.progress.output.bytes);
  const { searches } = turns;
  const failure = turns.failureOf(failed);
  return { ...failed, failure, isWhole, progress: { ...failed.progress, usage, output, searches } };
}

/** A hold has room for 10,000 a search. */
const resultTokensMax = 9_000;
const resultCharactersMax = 20_000;

function writeResults(results: readonly SearchResult[]): string {
  if (results.length === 0) return 'Nothing was found.';
  const pages = results.map(({ title, url, date, snippet }) =>
    [title, url, ...(date === null ? [] : [date]), snippet].join('\n'),
  );
  let text = pages.join('\n\n').slice(0, resultCharactersMax);
  while (estimateInputTokens(text).upper > resultTokensMax)
    text = text.slice(0, Math.floor(text.length * 0.8));
  return text.toWellFormed();
}

function add(one: Usage, other: Usage): Usage {
  const sum = { ...noUsage };
  for (const name of Object.keys(noUsage) as (keyof typeof noUsage)[])
    sum[name] = (one[name] ?? 0) + (other[name] ?? 0);
  return sum;
}
