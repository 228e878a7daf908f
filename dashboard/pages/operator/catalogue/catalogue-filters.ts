// Filters and orders the catalogue, and names the remedy for each problem. Pure functions.
import type {
  CatalogueModel,
  CatalogueProblem,
} from '../../../../src/management/contract/service.ts';

export const views = { all: 'All models', problems: 'Needs attention', live: 'Live' } as const;
export type View = keyof typeof views;

type CatalogueFilters = {
  readonly text: string;
  readonly view: View;
  /** Name of a provider. Empty matches all. */
  readonly provider: string;
};

/** Models without a price come first, then those without a route. The order is stable. */
export function mostUrgentFirst(models: readonly CatalogueModel[]): readonly CatalogueModel[] {
  const rank = ({ problems }: CatalogueModel) =>
    problems.includes('no-price') ? 0 : problems.length > 0 ? 1 : 2;
  return models.toSorted((one, other) => rank(one) - rank(other));
}

export function modelMatches(
  { id, name, problems, routes }: CatalogueModel,
  { text, view, provider }: CatalogueFilters,
): boolean {
  if (view !== 'all' && problems.length > 0 !== (view === 'problems')) return false;
  if (provider !== '' && !routes.some((route) => route.provider === provider)) return false;
  const haystack = [id, name, ...routes.flatMap((route) => route.models)].join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}

/** Returns the configuration change that makes the model available. */
export function remedyOf({ type, routes }: CatalogueModel, problem: CatalogueProblem): string {
  const section = type === 'image' ? 'image_models' : 'models';
  if (problem === 'no-price') return `Add prices under ${section}.`;
  const providers = [...new Set(routes.map(({ provider }) => provider))];
  if (providers.length === 0) return `Add routes under ${section}.`;
  return `Enable ${anyOf(providers)} under providers.`;
}

function anyOf(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} or ${names.at(-1)!}`;
}
