// Deepgram's form of transcription: the file is the body, and the wishes are in the address.
// https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded (npm `@deepgram/sdk` 5.13,
// read 2026-11-30)
import { listOf, objectOf, objectsOf } from '../../lib/json.ts';
import type { KeyHeaders } from '../provider.ts';
import {
  lacksTranslations,
  readWords,
  type TranscriptionHost,
  type TranscriptionJob,
} from './host.ts';

export const keyHeaders: KeyHeaders = (apiKey) => ({ authorization: `Token ${apiKey}` });

/** `multi` is no code of a language, and costs more. */
const languageCode = /^[a-z]{2,3}(?:-[a-z0-9]{2,4}){0,2}$/i;

/**
 * A model's name may have parameters that cost more, such as `nova-3?language=multi`, so that each has a
 * price of its own. Clients cannot ask for them otherwise.
 */
export function deepgram(upstreamModel: string): TranscriptionHost {
  const [model = '', parameters = ''] = upstreamModel.split('?', 2);
  const fixed = new URLSearchParams(parameters);
  // `diarize` is the older name.
  const tellsSpeakers = fixed.has('diarize_model') || fixed.has('diarize');
  const ownLanguage = fixed.get('language');
  const isMultilingual = ownLanguage === 'multi';
  const taken = isMultilingual
    ? ['language', 'languages']
    : ownLanguage === null
      ? ['language']
      : [];
  /** The codes that a client names: hints, for a model of several languages. */
  const codesOf = (fields: TranscriptionJob['fields']) =>
    taken
      .flatMap((name) => fields[name] ?? [])
      .filter((code) => code !== '' && code !== ownLanguage);
  return {
    lacks(asked) {
      const areCodes = codesOf(asked.fields).every((code) => languageCode.test(code));
      const lacksSpeakers = asked.format === 'diarized_json' && !tellsSpeakers;
      return (
        lacksTranslations(asked) ?? (lacksSpeakers ? 'speakers' : areCodes ? null : 'language')
      );
    },
    // Its words have times without being asked.
    ignores: (field) => field !== 'timestamp_granularities' && !taken.includes(field),
    streams: false,
    write({ fields }) {
      const query = new URLSearchParams({ model, smart_format: 'true' });
      for (const [name, value] of fixed) query.append(name, value);
      const codes = codesOf(fields);
      for (const code of codes) query.append(isMultilingual ? 'language_hint' : 'language', code);
      // Otherwise it takes everything for English.
      if (codes.length === 0 && ownLanguage === null) query.set('detect_language', 'true');
      return { path: `/listen?${query.toString()}`, keyHeaders, body: 'file' };
    },
    read({ results, metadata }) {
      const channel = objectOf(listOf(objectOf(results)['channels'])[0]);
      const { transcript, words, languages } = objectOf(listOf(channel['alternatives'])[0]);
      const codes = [channel['detected_language'] ?? languages ?? []].flat();
      const spoken = objectsOf(words).map(({ word, punctuated_word: text = word, ...times }) => ({
        ...times,
        text,
      }));
      return {
        text: transcript,
        language: codes[0],
        ...(codes.length > 0 && { languages: codes.map((code) => ({ code })) }),
        duration: objectOf(metadata)['duration'],
        ...readWords(spoken, transcript),
      };
    },
  };
}
