// Filters the catalogue and groups it by what brings its models. Pure functions.
import type { CatalogueModel } from '../../../../src/management/contract/service.ts';

export const views = { all: 'All models', problems: 'Needs attention', live: 'Live' } as const;
export type View = keyof typeof views;

type CatalogueFilters = {
  readonly text: string;
  readonly view: View;
  /** Name of a provider. Empty matches all. */
  readonly provider: string;
};

type Groups = {
  /** They run. */
  readonly live: readonly CatalogueModel[];
  /** A provider serves them, but they never run. */
  readonly unpriced: readonly CatalogueModel[];
  /** The models that each switched-off provider serves; the provider with most of them comes first. */
  readonly byProvider: readonly (readonly [string, readonly CatalogueModel[]])[];
  readonly routeless: readonly CatalogueModel[];
};

export function groupsOf(models: readonly CatalogueModel[]): Groups {
  const off = models.filter(({ problems }) => problems.includes('no-route'));
  const providers = new Set(off.flatMap(({ routes }) => routes.map(({ provider }) => provider)));
  return {
    live: models.filter(({ problems }) => problems.length === 0),
    unpriced: models.filter(
      ({ problems }) => problems.includes('no-price') && !problems.includes('no-route'),
    ),
    byProvider: [...providers]
      .map((name) => {
        const served = ({ routes }: CatalogueModel) =>
          routes.some(({ provider }) => provider === name);
        return [name, off.filter(served)] as const;
      })
      .toSorted(([, one], [, other]) => other.length - one.length),
    routeless: off.filter(({ routes }) => routes.length === 0),
  };
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
