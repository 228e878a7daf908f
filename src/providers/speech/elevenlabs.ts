// ElevenLabs' form of speech. https://elevenlabs.io/docs/api-reference/text-to-speech/convert
import type { KeyHeaders } from '../provider.ts';
import type { SpeechHost } from './host.ts';

export const keyHeaders: KeyHeaders = (apiKey) => ({ 'xi-api-key': apiKey });

const formats = { mp3: 'mp3_44100_128', opus: 'opus_48000_128', pcm: 'pcm_24000' } as const;

export const elevenlabs: SpeechHost = {
  formats: ['mp3', 'opus', 'pcm'],
  ignores: ['instructions', 'speed'],
  write({ upstreamModel, input, voice, format }) {
    // The ids of voices have no other characters, and the path must stay this one.
    const id = voice.replaceAll(/[^A-Za-z0-9_-]/g, '');
    return {
      path: `/text-to-speech/${id}?output_format=${formats[format as keyof typeof formats]}`,
      keyHeaders,
      answer: 'bytes',
      body: { text: input, model_id: upstreamModel },
    };
  },
  read: () => null,
};
