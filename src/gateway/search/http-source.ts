// A search provider as a source of pages: one HTTP call for each page of results needed.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Found, FoundPage, PageSearch, SearchSource } from '../../terms/search-source.ts';
import type {
  ReadSearch,
  SearchPage,
  SearchProviderKind,
} from '../../providers/search-provider.ts';
import { wordedFailure } from '../../providers/worded-failure.ts';
import { withoutProvider } from '../calling/failure-message.ts';
import { makeFailure, type FailedReply } from '../../canonical/make-failure.ts';
import type { Upstreams } from '../calling/upstreams.ts';
import type { UpstreamProvider, UpstreamTimeouts } from '../../providers/upstream-call.ts';

export type SearchProvider = UpstreamProvider & {
  readonly kind: SearchProviderKind;
  /** null: the provider wants none. */
  readonly apiKey: string | null;
  readonly timeouts: UpstreamTimeouts;
};

/** Fifty results are about 100 kB. */
const answerBytesMax = 8 * 1024 * 1024;

type Finding = Parameters<SearchSource['find']>[1];
type FoundOnce = Exclude<ReadSearch, { kind: 'unreadable' }> | Extract<Found, { kind: 'failure' }>;

export function createHttpSource(
  provider: SearchProvider,
  upstreams: Pick<Upstreams, 'send'>,
): SearchSource {
  const { name, baseUrl, kind, apiKey, timeouts } = provider;
  return { name, baseUrl, find };

  /**
   * Fetches one page of results after the other, because the next is needed only when the last was
   * not enough, and providers count calls per second.
   */
  async function find({ query, num }: PageSearch, finding: Finding): Promise<Found> {
    const count = Math.min(num, kind.resultsPerCallMax);
    const calls = callsFor(kind, num);
    const pages: FoundPage[] = [];
    for (let page = 0; page < calls; page++) {
      const found = await callOnce({ query, count, page }, finding);
      // Results of an earlier call are still an answer.
      if (found.kind === 'failure')
        return page === 0
          ? found
          : { kind: 'found', pages, calls: page, lostCalls: found.lostCalls ?? 0 };
      pages.push(...found.pages);
      if (!found.hasMore) return { kind: 'found', pages, calls: page + 1 };
    }
    return { kind: 'found', pages, calls };
  }

  async function callOnce(search: SearchPage, finding: Finding): Promise<FoundOnce> {
    const call = { ...kind.writeSearch(search, apiKey), ...finding, provider, timeouts };
    const reply = await upstreams.send({ ...call, stream: false, answerBytesMax });
    if (reply.kind === 'failure') {
      // A provider that refused bills nothing. When it broke off, or we left, we cannot know.
      const lostCalls = reply.requestSent && reply.failure.kind !== 'status' ? 1 : 0;
      return { kind: 'failure', failure: readFailure(provider, reply), lostCalls };
    }
    const read = kind.readSearch(reply.body);
    return read.kind === 'found'
      ? read
      : { kind: 'failure', failure: makeFailure('unreadable', read.message), lostCalls: 1 };
  }
}

/**
 * Maximum calls of one search. A call may return less than asked for; another call just for that is
 * not worth its price.
 */
export function callsFor({ resultsPerCallMax, pagesMax }: SearchProviderKind, num: number): number {
  return Math.min(Math.ceil(num / Math.min(num, resultsPerCallMax)), pagesMax);
}

function readFailure(provider: SearchProvider, reply: FailedReply): UpstreamFailure {
  const failure = wordedFailure(reply, provider.kind);
  return asOperators({ ...failure, message: withoutProvider(failure.message, provider) });
}

/**
 * Only the query comes from the client. A 404 or a redirect concerns the operator, who configured
 * the address.
 */
function asOperators(failure: UpstreamFailure): UpstreamFailure {
  const { status } = failure;
  if (status === null || status >= 500 || meaningfulStatuses.has(status)) return failure;
  return makeFailure('unreadable', `HTTP ${status}: is the provider's \`base_url\` right?`);
}

/** 400 and 422: the provider rejects this query. */
const meaningfulStatuses: ReadonlySet<number> = new Set([400, 401, 402, 403, 408, 422, 429]);
