// Sound as OpenAI's `input_audio`, alike in Chat and Responses. In the canonical request it is a document of
// type `audio/…`.
import { Type } from 'typebox';
import { invalidRequest } from '../canonical/errors.ts';
import { base64Source } from '../canonical/media-type.ts';
import type { DocumentPart, MediaSource } from '../canonical/request.ts';
import { ofKind } from './schema-parts.ts';
import type { JsonObject } from '../lib/json.ts';
import { readMediaUrl } from './media-url.ts';

export const InputAudio = ofKind('input_audio', {
  input_audio: Type.Object(
    {
      data: Type.String({ description: 'The sound as base64.' }),
      format: Type.String({
        pattern: '^[A-Za-z0-9]{1,10}$',
        mismatch: 'must be the format of the sound, such as `wav` or `mp3`',
        description: 'The format of the sound: `wav`, `mp3`, or another that the model takes.',
      }),
    },
    { description: 'Sound, for a model that hears (`supports_audio`).' },
  ),
});

export type SoundField = { readonly data: string; readonly format: string };

/** `data` may also be a data URL. Throws ApiError `invalid_request` on an address. */
export function readSound({ data, format }: SoundField, path: string): DocumentPart {
  const source =
    readMediaUrl(data, 'document') ?? base64Source(`audio/${format}`, data, 'document');
  if (source.kind === 'base64') return { type: 'document', source };
  throw invalidRequest(path, `${path} must be the sound itself as base64, not its address`);
}

export function isSound(mediaType: string): boolean {
  return mediaType.startsWith('audio/');
}

type Sound = Extract<MediaSource, { kind: 'base64' }>;

/** OpenAI knows `wav` and `mp3`; other hosts more. */
export function writeSound({ mediaType, data }: Sound): JsonObject {
  const kind = /^audio\/(?:x-|vnd\.)?([^;]*)/.exec(mediaType)?.[1] ?? '';
  const format = formats[kind] ?? kind;
  return { type: 'input_audio', input_audio: { data, format } };
}

const formats: Readonly<Record<string, string | undefined>> = {
  mpeg: 'mp3',
  wave: 'wav',
  mp4: 'm4a',
};
