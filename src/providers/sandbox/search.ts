// The sandbox's web search: invented pages that repeat the query, always the same ones.
// docs/test-mode.md describes it for developers.
import { escapeHtml } from '../../lib/escape-html.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Found, FoundPage, PageSearch, SearchSource } from '../../terms/search-source.ts';
import type { Clock } from '../../lib/clock.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { noDirectives, readDirectives, type Directives } from './directives.ts';

/** The clock times the requested delays. */
export function searchSandbox(clock: Clock): SearchSource {
  return {
    name: 'sandbox',
    baseUrl: null,
    find: (asked, { signal }) => find(asked, signal, clock),
  };
}

async function find({ query, num }: PageSearch, signal: AbortSignal, clock: Clock): Promise<Found> {
  const read = readDirectives(query);
  if (read.kind === 'malformed') return failed({ status: 400, message: read.message });
  const { directives, text } = read;
  if (!fitsSearch(directives))
    return failed({
      status: 400,
      message: 'A search takes the directives `status` and `delay_ms` only.',
    });
  if (directives.delayMs > 0) await clock.sleep(directives.delayMs, signal);
  if (signal.aborted)
    return failed({ kind: 'connection', status: null, message: 'the request was stopped' });
  if (directives.status !== null) return failed(statusFailure(directives.status));
  return {
    kind: 'found',
    pages: Array.from({ length: num }, (_page, index) => makePage(text || query.trim(), index)),
  };
}

function fitsSearch(directives: Directives): boolean {
  const { status, delayMs } = directives;
  return (
    JSON.stringify({ ...directives, status, delayMs }) ===
    JSON.stringify({ ...noDirectives, status, delayMs })
  );
}

const firstDayMs = Date.UTC(2026, 0, 1);

/** Each page is a day older and scores a little lower than the last. `index`: from 0. */
export function makePage(query: string, index: number): FoundPage {
  // Search providers return HTML.
  const text = escapeHtml(query);
  return {
    title: `Result ${index + 1} for “${text}”`,
    url: `https://example.com/${index + 1}?${new URLSearchParams({ q: query }).toString()}`,
    snippet: `What the sandbox has to say of “${text}”. No web was searched.`,
    date: new Date(firstDayMs - index * dayMs).toISOString(),
    score: (100 - index) / 100,
  };
}

/** Overload asks to retry after one second, so that a client's retry can be tested quickly. */
function statusFailure(status: number): Partial<UpstreamFailure> & { readonly message: string } {
  const retryAfterSeconds = status === 429 || status === 503 || status === 529 ? 1 : null;
  return {
    status,
    message: `The sandbox was asked to fail with status ${status}.`,
    retryAfterSeconds,
  };
}

function failed(failure: Partial<UpstreamFailure> & { readonly message: string }): Found {
  return {
    kind: 'failure',
    failure: { kind: 'status', status: null, retryAfterSeconds: null, ...failure },
  };
}
