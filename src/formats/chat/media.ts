// Images and files, which Chat carries as URLs or as base64 data URIs.
import { normalizeMediaType } from '../../canonical/media-type.ts';
import type { MediaSource } from '../../canonical/request.ts';

/** Returns null when it is neither an http(s) URL nor base64 in a data URI. */
export function readMediaUrl(url: string): MediaSource | null {
  if (/^https?:\/\//i.test(url)) return { kind: 'url', url };
  if (!/^data:/i.test(url)) return null;
  // Matches only the head: the data may be many megabytes.
  const comma = url.indexOf(',');
  const head = /^data:([^;,]+)(?:;[^,]*)?;base64$/i.exec(url.slice(0, Math.max(comma, 0)));
  return head
    ? { kind: 'base64', mediaType: normalizeMediaType(head[1]!), data: url.slice(comma + 1) }
    : null;
}

export function writeMediaUrl(source: MediaSource): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
