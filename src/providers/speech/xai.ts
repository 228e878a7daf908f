// xAI's form of speech: one model without a name.
// https://docs.x.ai/developers/model-capabilities/audio/text-to-speech
import type { SpeechHost } from './host.ts';

export const xai: SpeechHost = {
  formats: ['mp3', 'wav', 'pcm'],
  ignores: ['instructions', 'speed'],
  write: ({ input, voice, format }) => ({
    path: '/tts',
    answer: 'bytes',
    body: {
      text: input,
      voice_id: voice,
      language: 'auto',
      output_format: { codec: format, sample_rate: 24_000 },
    },
  }),
  read: () => null,
};
