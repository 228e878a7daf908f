// Media in Responses are one string: a URL, or a data URL with the bytes.
import { invalidRequest } from '../../canonical/errors.ts';
import { normalizeMediaType } from '../../canonical/media-type.ts';
import type { MediaSource } from '../../canonical/request.ts';

const dataUrl = /^data:([^;,]+)(?:;[^;,]*)*;base64,/i;

export function readMediaUrl(url: string, path: string): MediaSource {
  // Matches only the head: the data may be megabytes.
  const head = dataUrl.exec(url.slice(0, 256));
  if (head?.[1])
    return {
      kind: 'base64',
      mediaType: normalizeMediaType(head[1]),
      data: url.slice(head[0].length),
    };
  if (/^https?:\/\//i.test(url)) return { kind: 'url', url };
  throw invalidRequest(
    path,
    `${path} must be an http or https URL, or a data URL: \`data:<type>;base64,<data>\`.`,
  );
}

export function writeMediaUrl(source: MediaSource): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
