// Which models of the catalogue are shown, those with problems first; and what to do about a problem. Pure.
import type { CatalogueModel, CatalogueProblem } from '../../../../src/dashboard-contract/operator-service.ts';

export const views = { all: 'All models', problems: 'Needs attention', live: 'Live' } as const;
export type View = keyof typeof views;

export type CatalogueFilters = {
  readonly text: string;
  readonly view: View;
  /** The name of a provider; '': any. */
  readonly provider: string;
};

/** Without a price first, then without a route, then those that run; in the catalogue's order among themselves. */
export function inUrgency(models: readonly CatalogueModel[]): readonly CatalogueModel[] {
  const rank = ({ problems }: CatalogueModel) => (problems.includes('no-price') ? 0 : problems.length > 0 ? 1 : 2);
  return models.toSorted((one, other) => rank(one) - rank(other));
}

export function modelFits({ id, name, problems, routes }: CatalogueModel, { text, view, provider }: CatalogueFilters): boolean {
  if (view !== 'all' && problems.length > 0 !== (view === 'problems')) return false;
  if (provider !== '' && !routes.some((route) => route.provider === provider)) return false;
  const haystack = [id, name, ...routes.flatMap((route) => route.models)].join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}

/** What an operator changes in the configuration, so that the model runs. */
export function remedyOf({ type, routes }: CatalogueModel, problem: CatalogueProblem): string {
  const section = type === 'image' ? 'image_models' : 'models';
  if (problem === 'no-price') return `Give it prices under ${section}.`;
  const providers = [...new Set(routes.map(({ provider }) => provider))];
  if (providers.length === 0) return `Give it routes under ${section}.`;
  return `Switch on ${anyOf(providers)} under providers.`;
}

function anyOf(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} or ${names.at(-1)!}`;
}
