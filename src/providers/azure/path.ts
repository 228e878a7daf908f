import type { ProviderPlace } from '../provider.ts';

/**
 * Returns the path of a call of OpenAI's API at Azure. `name`: its path below `/v1/`. Classic addresses,
 * which have a version, name the deployment; left out: this one does not.
 */
export function azurePath(
  name: string,
  { apiVersion }: Pick<ProviderPlace, 'apiVersion'>,
  deployment?: string,
): string {
  if (apiVersion === null) return `/openai/v1/${name}`;
  const named = deployment === undefined ? '' : `/deployments/${encodeURIComponent(deployment)}`;
  return `/openai${named}/${name}?api-version=${apiVersion}`;
}
