// Media that a Chat request names by address, for a host in the operator's own network: it could
// fetch what clients cannot reach.
import type { ImageBytes } from '../../lib/image.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { OpenedFields } from '../field-verdicts.ts';

type UrlMedia = {
  /** The addresses of its images on the web. */
  readonly images: readonly string[];
  /** The type of another part with an address, which may lead to anything; null: there is none. */
  readonly other: string | null;
};

const webAddress = /^https?:\/\//i;

/** The names of parts that are media, in a body as text: most have none, and need not be parsed again. */
export const mediaNames = /"(?:\w+_url|video|input_video|input_audio|file|images)"/;

/** `opened`: fields that the operator lets pass: `messages.content.video_url`. */
export function listUrlMedia(body: JsonObject, opened: OpenedFields): UrlMedia {
  const images: string[] = [];
  let other: string | null = null;
  mapParts(body, (part) => {
    if (opened.has(`messages.content.${String(part.type)}`)) return part;
    const url = imageUrlOf(part);
    if (url !== null && webAddress.test(url)) images.push(url);
    else if (holdsAddress(part)) other ??= String(part.type);
    return part;
  });
  return { images, other };
}

/** `images`: keyed by address. */
export function inlineImages(
  body: JsonObject,
  images: ReadonlyMap<string, ImageBytes>,
): JsonObject {
  return mapParts(body, (part) => {
    const image = images.get(imageUrlOf(part) ?? '');
    if (!image) return part;
    const url = `data:${image.mediaType};base64,${image.bytes.toString('base64')}`;
    const { image_url: holder } = part;
    return { ...part, image_url: isObject(holder) ? { ...holder, url } : { url } };
  });
}

function imageUrlOf({ image_url: holder }: JsonObject): string | null {
  const url = isObject(holder) ? holder.url : holder;
  return typeof url === 'string' ? url : null;
}

/** Words, which may name addresses. */
const words = new Set(['type', 'text', 'refusal', 'thinking', 'reasoning', 'filename', 'name']);

/**
 * An address has a scheme, or leads to a host or file of the machine. Data are read where they are.
 * Text in a field for addresses, such as `image_url`, counts as one unless it is data. `name`: the field's.
 */
function holdsAddress(value: unknown, name = ''): boolean {
  if (typeof value === 'string') {
    const head = headOf(value);
    const isAddress = /(?:^|_)url$/.test(name) || /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(head);
    return isAddress && !/^data:/i.test(head);
  }
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([inner, held]) => !words.has(inner) && holdsAddress(held, Array.isArray(value) ? name : inner),
  );
}

/** The text may have megabytes. */
const headMax = 100;
/** Parsers of addresses drop them, before a scheme and within it. */
const dropped = /[\s\p{Cc}]+/gu;

function headOf(text: string): string {
  const head = text.slice(0, headMax);
  const hasDropped = head.search(dropped) !== -1;
  return hasDropped ? text.replaceAll(dropped, '').slice(0, headMax) : head;
}

/** Changes the parts of all messages, and the images that stand beside their content. */
function mapParts(body: JsonObject, change: (part: JsonObject) => JsonObject): JsonObject {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  const mapList = (list: unknown) =>
    Array.isArray(list) ? list.map((part) => (isObject(part) ? change(part) : part)) : list;
  return {
    ...body,
    messages: messages.map((message: unknown) =>
      isObject(message)
        ? {
            ...message,
            ...('content' in message && { content: mapList(message.content) }),
            ...('images' in message && { images: mapList(message.images) }),
          }
        : message,
    ),
  };
}
