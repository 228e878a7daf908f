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
 * parameters; undefined or empty removes one.
 *
 * Back and Forward go through the changes. Repeated changes of the same parameters are one step:
 * letters of a search, or opening and closing a dialog. Each tab is a step. `push` overrides this.
 */
export function useUrlState<State>(
  read: (search: Search) => State,
): [State, (patch: Search, options?: { push?: boolean }) => void] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = async (patch: Search, push: boolean) => {
    await navigate({
      to: '.',
      search: (before) => ({ ...before, ...patch }),
      replace: !push,
      resetScroll: false,
    });
    lastChange = { names: namesOf(patch), href: location.href };
  };
  return [read(search), (patch, { push = isNewStep(patch) } = {}) => void change(patch, push)];
}

/** The address after the last change, and the parameters that it changed. */
let lastChange: { readonly names: string; readonly href: string } | null = null;

function isNewStep(patch: Search): boolean {
  const isRepeated = lastChange?.names === namesOf(patch) && lastChange.href === location.href;
  return 'tab' in patch || !isRepeated;
}

function namesOf(patch: Search): string {
  return Object.keys(patch).toSorted().join(' ');
}
