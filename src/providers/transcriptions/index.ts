// Which host transcribes in which form.
// https://platform.openai.com/docs/api-reference/audio/createTranscription
import type { TranscriptionWishes } from '../../terms/host-wishes.ts';
import { azurePath } from '../azure/path.ts';
import type { HostQuery } from '../provider.ts';
import { elevenlabs } from './elevenlabs.ts';
import { gemini, vertex } from './gemini.ts';
import type { TranscriptionHost } from './host.ts';
import { xai } from './xai.ts';

/** Returns null when it transcribes nothing. */
export function transcriptionHostOf({
  kind,
  wishes: { transcription: wishes = {} },
}: HostQuery): TranscriptionHost | null {
  switch (kind) {
    case 'openai':
    case 'openai-compatible':
      return typeof wishes === 'string'
        ? { xai, elevenlabs }[wishes]
        : openAiForm(wishes, kind === 'openai');
    case 'azure':
      return azure;
    case 'google':
      return gemini;
    case 'vertex':
      return vertex;
    case 'bedrock':
    case 'anthropic':
    case 'cohere':
      return null;
  }
}

const azure: TranscriptionHost = {
  ...openAiForm({}, true),
  write: (job) => ({
    ...openAiForm({}, true).write(job),
    path: azurePath(`audio/${job.task}`, job.place, job.upstreamModel),
  }),
};

/** `isOpenAi`: it counts nothing beside the text of a translation. Others may not know `verbose_json`. */
function openAiForm(
  { only, lacksFormats, lacksTranslations, measuresSegmentsOnly }: TranscriptionWishes,
  isOpenAi = false,
): TranscriptionHost {
  return {
    takes: (task) => task === 'transcriptions' || !lacksTranslations,
    ignores: (field) => only !== undefined && !only.includes(field),
    streams: true,
    write({ task, upstreamModel, format, isEvents, fields }) {
      const granularities =
        lacksFormats && format !== 'json' ? { timestamp_granularities: ['segment'] } : {};
      const isUncounted = measuresSegmentsOnly || (isOpenAi && task === 'translations');
      const asked = format === 'json' && isUncounted ? 'verbose_json' : format;
      const form = [
        ['model', upstreamModel],
        ...(lacksFormats ? [] : [['response_format', asked] as const]),
        ...(isEvents ? [['stream', 'true'] as const] : []),
        ...Object.entries({ ...fields, ...granularities }).flatMap(([name, value]) =>
          typeof value === 'string'
            ? [[name, value] as const]
            : value.map((one: string) => [`${name}[]`, one] as const),
        ),
      ];
      return { path: `/audio/${task}`, body: { form } };
    },
  };
}
