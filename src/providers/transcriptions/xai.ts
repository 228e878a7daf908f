// xAI's form of transcription: one model without a name, and an answer with words.
// https://docs.x.ai/developers/model-capabilities/audio/speech-to-text
import { lacksTranslations, readWords, type TranscriptionHost } from './host.ts';

export const xai: TranscriptionHost = {
  lacks: lacksTranslations,
  // Its words have times without being asked.
  ignores: (field) => field !== 'language' && field !== 'timestamp_granularities',
  streams: false,
  write: ({ format, fields }) => ({
    path: '/stt',
    body: {
      form: [
        ...(format === 'diarized_json' ? [['diarize', 'true'] as const] : []),
        ...(typeof fields['language'] === 'string'
          ? [['language', fields['language']] as const]
          : []),
      ],
    },
  }),
  read: ({ words, ...answer }) => ({ ...answer, ...readWords(words, answer.text) }),
};
