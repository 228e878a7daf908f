// Deepgram's form of speech: each voice is a model, and the wishes are in the address.
// https://developers.deepgram.com/reference/text-to-speech/speak-request (npm `@deepgram/sdk` 5.13, read
// 2026-11-30)
import { keyHeaders } from '../transcriptions/deepgram.ts';
import { speechFormatNames, type SpeechFormat } from '../../terms/speech.ts';
import type { SpeechHost } from './host.ts';

const formats = {
  mp3: { encoding: 'mp3' },
  opus: { encoding: 'opus', container: 'ogg' },
  aac: { encoding: 'aac' },
  flac: { encoding: 'flac' },
  wav: { encoding: 'linear16', container: 'wav', sample_rate: '24000' },
  pcm: { encoding: 'linear16', container: 'none', sample_rate: '24000' },
} as const satisfies Record<SpeechFormat, object>;

export const deepgram: SpeechHost = {
  formats: speechFormatNames,
  ignores: ['instructions'],
  write({ upstreamModel, input, voice, format, speed }) {
    const prefix = `${upstreamModel}-`;
    const short = voice.startsWith(prefix) ? voice.slice(prefix.length) : voice;
    // No digits: `2-thalia-en` would make a voice of `aura` one of the dearer `aura-2`.
    const model = prefix + short.replaceAll(/[^A-Za-z-]/g, '');
    const query = new URLSearchParams({
      model,
      ...formats[format],
      ...(speed !== null && { speed: String(speed) }),
    });
    return {
      path: `/speak?${query.toString()}`,
      keyHeaders,
      answer: 'bytes',
      body: { text: input },
    };
  },
  read: () => null,
};
