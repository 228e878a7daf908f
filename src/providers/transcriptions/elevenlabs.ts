// ElevenLabs' form of transcription. https://elevenlabs.io/docs/api-reference/speech-to-text/convert
import { listOf } from '../../lib/json.ts';
import { keyHeader } from '../speech/elevenlabs.ts';
import { readWords, type TranscriptionHost } from './host.ts';

/** Our names of its fields. */
const names: Readonly<Record<string, string>> = {
  language: 'language_code',
  temperature: 'temperature',
};

export const elevenlabs: TranscriptionHost = {
  takes: (task) => task === 'transcriptions',
  ignores: (field) => !Object.hasOwn(names, field),
  streams: false,
  write: ({ upstreamModel, format, fields }) => ({
    path: '/speech-to-text',
    keyHeader,
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
    const given = listOf(words);
    const spoken = given.map((word) => ({
      ...(word as object),
      speaker: (word as { readonly speaker_id?: unknown } | null)?.speaker_id,
    }));
    return {
      text,
      language,
      ...readWords(spoken, ''),
      ...(duration !== undefined && { duration }),
    };
  },
};
