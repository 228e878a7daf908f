// The formats of spoken texts, with their media types. `pcm`: 24 kHz, 16 bits, one channel, no header.
export const speechFormats = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const;

export type SpeechFormat = keyof typeof speechFormats;

export const speechFormatNames = Object.keys(speechFormats) as readonly SpeechFormat[];
