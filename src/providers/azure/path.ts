import type { ProviderPlace } from '../provider.ts';

type Job = { readonly upstreamModel: string; readonly place: ProviderPlace };

/** Returns `write` of a host in OpenAI's form, for Azure. `nameOf`: as `name` of `azurePath`. */
export function atAzure<J extends Job, Call extends object>(
  write: (job: J) => Call,
  nameOf: (job: J) => string,
) {
  return (job: J) => ({
    ...write(job),
    path: azurePath(nameOf(job), job.place, job.upstreamModel),
  });
}

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
