// The providers: which are on, and with `--online` whether their credentials are accepted, as the
// dashboard tries them: by a list of models, which is free of charge.
import type { Config } from '../config/schema.ts';
import { createUpstreams } from '../gateway/calling/upstreams.ts';
import { remedyFor } from '../gateway/models/provider-remedies.ts';
import { listModels, type ModelsListed } from '../gateway/models/test-provider.ts';
import { systemClock } from '../lib/clock.ts';
import {
  examineSwitchedOn,
  type Finding,
  findingsOf,
} from '../management/changes/set-up-findings.ts';

const ofProviders = findingsOf('providers');

const answerBytesMax = 16 * 1024 * 1024;

export async function examineProviders(
  { providers }: Config,
  { online }: { readonly online: boolean },
): Promise<Finding[]> {
  const all = Object.entries(providers);
  const on = all.filter(([, { enabled }]) => enabled);
  const withoutKey = all.filter(([, { enabled, api_key: key }]) => !enabled && key === null);
  return [
    examineSwitchedOn({ providers }),
    ...withoutKey.map(([name]) =>
      ofProviders.warning(
        `The provider ${name} is in the file and has no key, so it is off.`,
        `Set its api_key, or remove providers.${name}.`,
      ),
    ),
    ...(online ? await askAll(on) : []),
  ];
}

async function askAll(on: readonly [string, Config['providers'][string]][]): Promise<Finding[]> {
  const clock = systemClock;
  const upstreams = createUpstreams({ clock, largeAnswerBytesMax: answerBytesMax });
  try {
    return await Promise.all(
      on.map(async ([name, provider]) =>
        judge(name, await listModels({ upstreams, clock }, { name, provider })),
      ),
    );
  } finally {
    await upstreams.close();
  }
}

function judge(name: string, { step, failure }: ModelsListed): Finding {
  if (step.works === null)
    return ofProviders.ok(`The provider ${name} cannot be asked free of charge.`);
  if (step.works) return ofProviders.ok(`The provider ${name} accepts its key.`);
  const { status = null, message = step.what } = failure ?? {};
  const known = remedyFor(message);
  if (status === 401 || status === 403)
    return ofProviders.error(
      `The provider ${name} refuses its key (${status}): ${message}`,
      known ?? `Set a valid key in providers.${name}.api_key or its variable.`,
    );
  if (status === null && failure)
    return ofProviders.error(
      `The provider ${name} cannot be reached (${message}).`,
      `Check providers.${name}.base_url and the network.`,
    );
  return ofProviders.warning(
    `The provider ${name} does not list its models: ${status === null ? '' : `${status}: `}${message}`,
    known ?? `Check providers.${name}.base_url.`,
  );
}
