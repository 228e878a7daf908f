// Paths of Vertex AI: below a project and a location.
import type { ProviderPlace } from '../provider.ts';

export function modelPath(
  version: string,
  publisher: string,
  model: string,
  place: ProviderPlace,
): string {
  return `/${version}${locationOf(place)}/publishers/${publisher}/models/${encodeURIComponent(model)}`;
}

/** An express key belongs to a project and names none. */
export function locationOf({ project, region }: ProviderPlace): string {
  return project === null ? '' : `/projects/${project}/locations/${region ?? 'global'}`;
}
