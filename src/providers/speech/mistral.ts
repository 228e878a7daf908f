// Mistral's form of speech: JSON with the audio in base64, without a count.
import { readBase64, type SpeechHost } from './host.ts';

export const mistral: SpeechHost = {
  formats: ['mp3', 'wav', 'pcm', 'flac', 'opus'],
  ignores: ['instructions', 'speed'],
  write: ({ upstreamModel, input, voice, format }) => ({
    path: '/audio/speech',
    answer: 'json',
    body: {
      model: upstreamModel,
      input,
      voice,
      response_format: format,
    },
  }),
  read({ audio_data: data }) {
    const audio = readBase64(data);
    return audio && { audio, count: null };
  },
};
