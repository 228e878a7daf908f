// Which host makes speech in which form.
import type { SpeechWishes } from '../../terms/host-wishes.ts';
import type { ChatKindName } from '../../terms/provider-kind.ts';
import { gemini, vertex } from './gemini.ts';
import type { SpeechHost } from './host.ts';
import { mistral } from './mistral.ts';
import { openAi, openAiForm } from './openai.ts';

type HostQuery = {
  readonly kind: ChatKindName;
  readonly wishes: SpeechWishes | 'mistral' | undefined;
};

/** Returns null when it makes none. */
export function speechHostOf({ kind, wishes }: HostQuery): SpeechHost | null {
  switch (kind) {
    case 'openai':
      return openAi;
    case 'azure':
      return azure;
    case 'openai-compatible':
      if (wishes === 'mistral') return mistral;
      return wishes ? openAiForm(wishes.formats) : openAi;
    case 'google':
      return gemini;
    case 'vertex':
      return vertex;
    case 'bedrock':
    case 'anthropic':
      return null;
  }
}

const azure: SpeechHost = {
  ...openAi,
  write(job) {
    const call = openAi.write(job);
    const { apiVersion } = job.place;
    if (apiVersion === null) return { ...call, path: '/openai/v1/audio/speech' };
    const deployment = encodeURIComponent(job.upstreamModel);
    return {
      ...call,
      path: `/openai/deployments/${deployment}/audio/speech?api-version=${apiVersion}`,
    };
  },
};
