// ElevenLabs' form of transcription. https://elevenlabs.io/docs/api-reference/speech-to-text/convert
import { objectsOf } from '../../lib/json.ts';
import { keyHeaders } from '../speech/elevenlabs.ts';
import { lacksTranslations, readWords, type TranscriptionHost } from './host.ts';

/** Our names of its fields. */
const names: Readonly<Record<string, string>> = {
  language: 'language_code',
  temperature: 'temperature',
};

export const elevenlabs: TranscriptionHost = {
  lacks: lacksTranslations,
  // Its words have times without being asked.
  ignores: (field) => !Object.hasOwn(names, field) && field !== 'timestamp_granularities',
  streams: false,
  write: ({ upstreamModel, format, fields }) => ({
    path: '/speech-to-text',
    keyHeaders,
    body: {
      form: [
        ['model_id', upstreamModel],
        // Unasked, it writes down laughter too.
        ['tag_audio_events', 'false'],
        ...(format === 'diarized_json' ? [['diarize', 'true'] as const] : []),
        ...Object.entries(fields).flatMap(([name, value]) =>
          typeof value === 'string' ? [[names[name]!, value] as const] : [],
        ),
      ],
    },
  }),
  // Its spaces are words.
  read({ text, language_code: language, words, audio_duration_secs: duration }) {
    const spoken = objectsOf(words).map(({ speaker_id: speaker, ...word }) => ({
      ...word,
      speaker,
    }));
    return {
      text,
      language,
      ...readWords(spoken, ''),
      ...(duration !== undefined && { duration }),
    };
  },
};
