// The sandbox's web: made-up pages that repeat what was asked, the same ones every time. docs/test-mode.md tells developers of it.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Found, FoundPage, PageSearch, SearchSource } from '../../canonical/search-source.ts';
import type { Clock } from '../../lib/clock.ts';
import { noDirectives, readDirectives, type Directives } from './directives.ts';

/** The clock times the delays that a search asks for. */
export function searchSandbox(clock: Clock): SearchSource {
  return { name: 'sandbox', find: (asked, signal) => find(asked, signal, clock) };
}

async function find({ query, num }: PageSearch, signal: AbortSignal, clock: Clock): Promise<Found> {
  const read = readDirectives(query);
  if (read.kind === 'malformed') return failed({ status: 400, message: read.message });
  const { directives, text } = read;
  if (!fitSearch(directives))
    return failed({ status: 400, message: 'A search takes the directives `status` and `delay_ms` only.' });
  if (directives.delayMs > 0) await clock.sleep(directives.delayMs, signal);
  if (signal.aborted) return failed({ kind: 'connection', status: null, message: 'the request was stopped' });
  if (directives.status !== null) return failed(statusFailure(directives.status));
  return { kind: 'found', pages: Array.from({ length: num }, (_page, index) => makePage(text || query.trim(), index)) };
}

function fitSearch(directives: Directives): boolean {
  const { status, delayMs } = directives;
  return JSON.stringify({ ...directives, status, delayMs }) === JSON.stringify({ ...noDirectives, status, delayMs });
}

const firstDayMs = Date.UTC(2026, 0, 1);
const dayMs = 24 * 60 * 60 * 1_000;

/** Each a day older than the one before, and a little worse. */
function makePage(query: string, index: number): FoundPage {
  const text = escapeHtml(query);
  return {
    title: `Result ${index + 1} for “${text}”`,
    url: `https://example.com/${index + 1}?${new URLSearchParams({ q: query }).toString()}`,
    snippet: `What the sandbox has to say of “${text}”. No web was searched.`,
    date: new Date(firstDayMs - index * dayMs).toISOString(),
    score: (100 - index) / 100,
  };
}

/** Overload asks for one second of patience, so that a client's retry can be tried out quickly. */
function statusFailure(status: number): Partial<UpstreamFailure> & { readonly message: string } {
  const retryAfterSeconds = status === 429 || status === 503 || status === 529 ? 1 : null;
  return { status, message: `The sandbox was asked to fail with status ${status}.`, retryAfterSeconds };
}

function failed(failure: Partial<UpstreamFailure> & { readonly message: string }): Found {
  return { kind: 'failure', failure: { kind: 'status', status: null, retryAfterSeconds: null, ...failure } };
}

/** What a page finds is HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
