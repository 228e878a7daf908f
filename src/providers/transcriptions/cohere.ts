// Cohere's form of transcription: the text alone.
// https://docs.cohere.com/reference/create-audio-transcription
import { lacksTranslations, type TranscriptionHost } from './host.ts';

export const cohere: TranscriptionHost = {
  lacks: (asked) =>
    lacksTranslations(asked) ??
    (asked.format !== 'json' ? 'times' : asked.fields['language'] ? null : 'language'),
  ignores: (field) => field !== 'language' && field !== 'temperature',
  streams: false,
  write: ({ upstreamModel, fields }) => ({
    path: '/v2/audio/transcriptions',
    body: {
      form: [
        ['model', upstreamModel],
        ...Object.entries(fields).map(([name, value]) => [name, String(value)] as const),
      ],
    },
  }),
  // Recorded: a space comes first.
  read: ({ text }) => ({ text: typeof text === 'string' ? text.trim() : text }),
};
