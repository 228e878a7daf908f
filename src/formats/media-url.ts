// Media in Chat and Responses: one string, a URL or a data URL with the bytes.
import { base64Source, type MediaPlace } from '../canonical/media-type.ts';
import type { MediaSource } from '../canonical/request.ts';

/** Only the head is matched: the data may be megabytes. */
const headMax = 1_024;
const dataUrl = /^data:([^;,]+)(?:;[^;,]*)*;base64,/i;

/** Returns null when it is neither an http(s) URL nor base64 in a data URL. */
export function readMediaUrl(url: string, place: MediaPlace): MediaSource | null {
  const head = dataUrl.exec(url.slice(0, headMax));
  if (head) return base64Source(head[1]!, url.slice(head[0].length), place);
  return /^https?:\/\//i.test(url) ? { kind: 'url', url } : null;
}

/** Clients of several gateways send a PDF in the place of an image, where only Gemini takes it. */
export function isPdf(source: MediaSource): boolean {
  return source.kind === 'base64' && source.mediaType === 'application/pdf';
}

export function writeMediaUrl(source: MediaSource): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/** Repairs type and base64 of a data URL. Returns the same string when nothing is wrong. */
export function mendMediaUrl(url: string, place: MediaPlace): string {
  const head = dataUrl.exec(url.slice(0, headMax));
  if (!head) return url;
  const data = url.slice(head[0].length);
  const source = base64Source(head[1]!, data, place);
  return source.mediaType === head[1] && source.data.length === data.length
    ? url
    : writeMediaUrl(source);
}
