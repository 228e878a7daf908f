// Which host transcribes in which form.
// https://platform.openai.com/docs/api-reference/audio/createTranscription
import { type JsonObject, objectsOf } from '../../lib/json.ts';
import type { TranscriptionWishes } from '../../terms/host-wishes.ts';
import { atAzure } from '../azure/path.ts';
import type { HostQuery, HostsByKind } from '../provider.ts';
import { cohere } from './cohere.ts';
import { deepgram } from './deepgram.ts';
import { elevenlabs } from './elevenlabs.ts';
import { gemini, vertex } from './gemini.ts';
import { lacksTranslations, type TranscriptionHost } from './host.ts';
import { xai } from './xai.ts';

/** Returns null when it transcribes nothing. */
export function transcriptionHostOf({
  kind,
  upstreamModel,
  wishes: { transcription: wishes = {} },
}: HostQuery & { readonly upstreamModel: string }): TranscriptionHost | null {
  if (kind !== 'openai' && kind !== 'openai-compatible') return hosts[kind] ?? null;
  if (wishes === 'deepgram') return deepgram(upstreamModel);
  return typeof wishes === 'string'
    ? { xai, elevenlabs }[wishes]
    : openAiForm(wishes, kind === 'openai');
}

const openAi = openAiForm({}, true);
const azure = { ...openAi, write: atAzure(openAi.write, ({ task }) => `audio/${task}`) };
const hosts: HostsByKind<TranscriptionHost> = { azure, google: gemini, vertex, cohere };

/** `isOpenAi`: it counts nothing beside the text of a translation. Others may not know `verbose_json`. */
function openAiForm(wishes: TranscriptionWishes, isOpenAi: boolean): TranscriptionHost {
  const { only, lacksFormats, lacksStreams, measuresSegmentsOnly } = wishes;
  return {
    lacks: wishes.lacksTranslations ? lacksTranslations : () => null,
    // Told the language, Mistral answers nothing beside times
    // (github.com/livekit/agents/issues/4399, read 2026-11-30).
    ignores: (field, format) =>
      only?.includes(field) === false ||
      (!!lacksFormats && format !== 'json' && field === 'language'),
    streams: !lacksStreams,
    ...(lacksFormats && { read: readPlain }),
    write({ task, upstreamModel, format, isEvents, fields }) {
      const granularities =
        lacksFormats && format !== 'json' ? { timestamp_granularities: ['segment'] } : {};
      const isUncounted = measuresSegmentsOnly || (isOpenAi && task === 'translations');
      const asked = format === 'json' && isUncounted ? 'verbose_json' : format;
      const form = [
        ['model', upstreamModel],
        ...(lacksFormats ? [] : [['response_format', asked] as const]),
        ...(lacksFormats && format === 'diarized_json' ? [['diarize', 'true'] as const] : []),
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

/** Mistral's answer, which has its own names for what is beside the text. */
function readPlain({ text, language, segments, usage }: JsonObject): JsonObject {
  if (!Array.isArray(segments)) return { text, language, usage };
  const named = objectsOf(segments).map(({ speaker_id: speaker, ...segment }, id) => ({
    ...segment,
    id,
    type: 'transcript.text.segment',
    speaker,
  }));
  return { text, language, usage, segments: named };
}
