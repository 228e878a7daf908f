// Page state in the address, so that it can be linked to: filters, tabs, the open item.
import { useNavigate, useSearch } from '@tanstack/react-router';

/** Query parameters as plain text: `?model=openai/gpt-5.5&from=2026-11-01`. */
export type Search = Readonly<Record<string, string | undefined>>;

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Skips empty values to keep addresses short. */
export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(search).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const text = new URLSearchParams(known.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/**
 * `const [filters, setFilters] = useUrlState((search) => ({ model: search.model ?? null, tab: search.tab === 'b' ? 'b' : 'a' }));`
 * `read` turns the address into the page's state and fills in defaults. The setter changes the given
 * parameters; undefined or empty removes one. It adds a history entry only with `push`.
 */
export function useUrlState<State>(
  read: (search: Search) => State,
): [State, (patch: Search, options?: { push?: boolean }) => void] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (patch: Search, { push = false } = {}) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, ...patch }),
      replace: !push,
      resetScroll: false,
    });
  return [read(search), change];
}
