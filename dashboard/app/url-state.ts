// What a page keeps in its address, so that it can be linked to: filters, tabs, what is open.
import { useNavigate, useSearch } from '@tanstack/react-router';

/** Plain text, as in any address: `?model=openai/gpt-5.5&from=2026-11-01`. */
export type Search = Readonly<Record<string, string | undefined>>;

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Empty values are left out, so that an address stays as short as what it says. */
export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(known.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/**
 * `const [filters, setFilters] = useUrlState((search) => ({ model: search.model ?? null, tab: search.tab === 'b' ? 'b' : 'a' }));`
 * `read` makes the page's state of the address, with its defaults. The setter changes the parameters that it is given (undefined or
 * empty removes one), without a new step in the history unless `push` is asked for.
 */
export function useUrlState<State>(
  read: (search: Search) => State,
): [State, (patch: Search, options?: { push?: boolean }) => void] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (patch: Search, { push = false } = {}) =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...patch }), replace: !push, resetScroll: false });
  return [read(search), change];
}
