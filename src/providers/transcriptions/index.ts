// Which host transcribes in which form. All take OpenAI's form, with other fields.
// https://platform.openai.com/docs/api-reference/audio/createTranscription
import type { TranscriptionWishes } from '../../terms/host-wishes.ts';
import type { ChatKindName } from '../../terms/provider-kind.ts';
import { azurePath } from '../azure/path.ts';
import type { TranscriptionHost } from './host.ts';

type HostQuery = {
  readonly kind: ChatKindName;
  readonly wishes: TranscriptionWishes | undefined;
};

/** Returns null when it transcribes nothing. */
export function transcriptionHostOf({ kind, wishes }: HostQuery): TranscriptionHost | null {
  if (kind === 'azure')
    return {
      ...openAiForm({}),
      path: ({ place, upstreamModel, task }) => azurePath(`audio/${task}`, place, upstreamModel),
    };
  return kind === 'openai' || kind === 'openai-compatible' ? openAiForm(wishes ?? {}) : null;
}

function openAiForm({
  only,
  lacksFormats,
  lacksTranslations,
}: TranscriptionWishes): TranscriptionHost {
  return {
    takes: (task) => task === 'transcriptions' || !lacksTranslations,
    ignores: (field) => only !== undefined && !only.includes(field),
    path: ({ task }) => `/audio/${task}`,
    write({ upstreamModel, format, isEvents, fields }) {
      const granularities =
        lacksFormats && format !== 'json' ? { timestamp_granularities: ['segment'] } : {};
      return [
        ['model', upstreamModel],
        ...(lacksFormats ? [] : [['response_format', format] as const]),
        ...(isEvents ? [['stream', 'true'] as const] : []),
        ...Object.entries({ ...fields, ...granularities }).flatMap(([name, value]) =>
          typeof value === 'string'
            ? [[name, value] as const]
            : value.map((one: string) => [`${name}[]`, one] as const),
        ),
      ];
    },
  };
}
