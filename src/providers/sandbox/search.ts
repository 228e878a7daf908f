// The sandbox's web search: invented pages that repeat the query, always the same ones.
// docs/test-mode.md describes it for developers.
import { escapeHtml } from '../../lib/escape-html.ts';
import type { Found, FoundPage, PageSearch, SearchSource } from '../../terms/search-source.ts';
import type { Clock } from '../../lib/clock.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { failureOf } from './failures.ts';
import { followDirectives, type Playing } from './task-directives.ts';

/** The clock times the requested delays. */
export function searchSandbox(clock: Clock): SearchSource {
  return {
    name: 'sandbox',
    baseUrl: null,
    find: (asked, { signal }) => find(asked, { signal, clock }),
  };
}

async function find({ query, num }: PageSearch, playing: Playing): Promise<Found> {
  try {
    const { text } = await followDirectives(query, playing);
    playing.signal.throwIfAborted();
    const shown = text || query.trim();
    return {
      kind: 'found',
      pages: Array.from({ length: num }, (_page, index) => makePage(shown, index)),
    };
  } catch (error) {
    return { kind: 'failure', failure: failureOf(error, playing) };
  }
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
