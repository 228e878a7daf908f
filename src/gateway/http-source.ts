// A search provider as a source of pages: its calls, one for each page of results that is needed, over HTTP.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { Found, FoundPage, PageSearch, SearchSource } from '../canonical/search-source.ts';
import { readErrorMessage } from '../formats/error-message.ts';
import type { ReadSearch, SearchPage, SearchProviderKind } from '../providers/search-provider.ts';
import { withoutProvider } from './upstream-error.ts';
import { makeFailure } from './upstream-failure.ts';
import type { UpstreamFailed, UpstreamProvider, Upstreams, UpstreamTimeouts } from './upstream.ts';

export type SearchProvider = UpstreamProvider & {
  readonly kind: SearchProviderKind;
  /** null: the provider wants none. */
  readonly apiKey: string | null;
  readonly timeouts: UpstreamTimeouts;
};

/** Fifty results are some 100 kB. */
const answerBytesMax = 8 * 1024 * 1024;

export function createHttpSource(provider: SearchProvider, upstreams: Pick<Upstreams, 'send'>): SearchSource {
  return { name: provider.name, find: (search, signal) => findPages({ provider, upstreams, signal }, search) };
}

type Finding = { readonly provider: SearchProvider; readonly upstreams: Pick<Upstreams, 'send'>; readonly signal: AbortSignal };

/** One page of results after the other, for the next is only asked for when the last was not enough; providers count calls a second. */
async function findPages(finding: Finding, { query, num }: PageSearch): Promise<Found> {
  const { resultsPerCallMax, pagesMax } = finding.provider.kind;
  const count = Math.min(num, resultsPerCallMax);
  // A call may give less than it was asked for; another one just for that is not worth its price.
  const calls = Math.min(Math.ceil(num / count), pagesMax);
  const pages: FoundPage[] = [];
  for (let page = 0; page < calls; page++) {
    const found = await callOnce(finding, { query, count, page });
    // What an earlier call found is an answer all the same.
    if (found.kind === 'failure') return page === 0 ? found : { kind: 'found', pages };
    pages.push(...found.pages);
    if (!found.hasMore) break;
  }
  return { kind: 'found', pages };
}

type FoundOnce = Exclude<ReadSearch, { kind: 'unreadable' }> | Extract<Found, { kind: 'failure' }>;

async function callOnce({ provider, upstreams, signal }: Finding, search: SearchPage): Promise<FoundOnce> {
  const call = provider.kind.writeSearch(search, provider.apiKey);
  const reply = await upstreams.send({ ...call, provider, timeouts: provider.timeouts, stream: false, signal, answerBytesMax });
  if (reply.kind === 'failure') return { kind: 'failure', failure: readFailure(provider, reply) };
  const read = reply.kind === 'answer' ? provider.kind.readSearch(reply.body) : unexpectedStream;
  return read.kind === 'found' ? read : { kind: 'failure', failure: makeFailure('unreadable', read.message) };
}

const unexpectedStream = { kind: 'unreadable', message: 'the answer is a stream' } as const;

function readFailure(provider: SearchProvider, { failure, body }: UpstreamFailed): UpstreamFailure {
  const message = withoutProvider(readErrorMessage(body) ?? failure.message, provider);
  const worded = { ...failure, message };
  return asOperators(provider.kind.readFailure?.(worded, body) ?? worded);
}

/** Of what a client sends, only the query goes there: a 404 or a redirect is for the operator, who configured the address. */
function asOperators(failure: UpstreamFailure): UpstreamFailure {
  const { status } = failure;
  if (status === null || status >= 500 || meaningfulStatuses.has(status)) return failure;
  return makeFailure('unreadable', `HTTP ${status}: is the provider's \`base_url\` right?`);
}

/** 400 and 422: it does not take this query. */
const meaningfulStatuses: ReadonlySet<number> = new Set([400, 401, 402, 403, 408, 422, 429]);
