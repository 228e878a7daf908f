// The providers: which are on, and with `--online` whether their keys are accepted. A list of
// models is free of charge.
import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/clock.ts';
import { modelListOf } from '../domain/catalog/provider-models.ts';
import { examineSwitchedOn, type Finding } from '../management/changes/set-up-findings.ts';

type Provider = Config['providers'][string];

const answerTimeoutMs = 10_000;

export async function examineProviders(
  { providers }: Config,
  { online }: { readonly online: boolean },
): Promise<Finding[]> {
  const all = Object.entries(providers);
  const on = all.filter(([, { enabled }]) => enabled);
  const withoutKey = all.filter(([, { enabled, api_key: key }]) => !enabled && key === null);
  const answers = online ? await Promise.all(on.map(([name, each]) => ask(name, each))) : [];
  return [
    examineSwitchedOn({ providers }),
    ...withoutKey.map(([name]) =>
      finding(
        'warning',
        `The provider ${name} is in the file and has no key, so it is off.`,
        `Set its api_key, or remove providers.${name}.`,
      ),
    ),
    ...answers,
  ];
}

async function ask(name: string, provider: Provider): Promise<Finding> {
  const question = modelListOf(provider.kind, provider.api_key);
  if (question === null)
    return finding('ok', `The provider ${name} cannot be asked free of charge.`, null);
  const aborter = new AbortController();
  const cancel = systemClock.after(answerTimeoutMs, () => aborter.abort());
  try {
    const { status, body } = await fetch(provider.base_url + question.path, {
      headers: question.headers,
      // A redirect would take the key elsewhere.
      redirect: 'manual',
      signal: aborter.signal,
    });
    await body?.cancel();
    return judge(name, status);
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    return finding(
      'error',
      `The provider ${name} cannot be reached (${code ?? (error as Error).name}).`,
      `Check providers.${name}.base_url and the network.`,
    );
  } finally {
    cancel();
  }
}

function judge(name: string, status: number): Finding {
  if (status >= 200 && status < 300)
    return finding('ok', `The provider ${name} accepts its key.`, null);
  if (status === 401 || status === 403)
    return finding(
      'error',
      `The provider ${name} refuses its key (${status}).`,
      `Set a valid key in providers.${name}.api_key or its variable.`,
    );
  return finding(
    'warning',
    `The provider ${name} answered ${status} when asked for its models.`,
    `Check providers.${name}.base_url.`,
  );
}

function finding(level: Finding['level'], what: string, remedy: string | null): Finding {
  return { area: 'providers', level, what, remedy };
}
