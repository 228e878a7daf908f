// Which host makes speech in which form.
import { atAzure } from '../azure/path.ts';
import type { HostQuery, HostsByKind } from '../provider.ts';
import { deepgram } from './deepgram.ts';
import { elevenlabs } from './elevenlabs.ts';
import { gemini, vertex } from './gemini.ts';
import type { SpeechHost } from './host.ts';
import { mistral } from './mistral.ts';
import { openAi, openAiForm } from './openai.ts';
import { xai } from './xai.ts';

/** Returns null when it makes none. */
export function speechHostOf({ kind, wishes: { speech: wishes } }: HostQuery): SpeechHost | null {
  if (kind !== 'openai-compatible') return hosts[kind] ?? null;
  if (typeof wishes === 'string') return { mistral, xai, elevenlabs, deepgram }[wishes];
  return wishes ? openAiForm(wishes.formats) : openAi;
}

const azure = { ...openAi, write: atAzure(openAi.write, () => 'audio/speech') };
const hosts: HostsByKind<SpeechHost> = { openai: openAi, azure, google: gemini, vertex };
