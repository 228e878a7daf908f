// Media that a request names by address, in any wire format. A host in the operator's own network could
// fetch what clients cannot reach; others count or take images as bytes only.
import type { ImageBytes } from '../lib/image.ts';
import { isObject, type JsonObject } from '../lib/json.ts';
import type { OpenedFields } from './field-verdicts.ts';

type UrlImage = {
  readonly url: string;
  /** The path of its part: `messages[0].content[1]`. */
  readonly path: string;
};

type UrlMedia = {
  /** Its images on the web in order, including those in tool results. */
  readonly images: readonly UrlImage[];
  /** The type of another part with an address, which may lead to anything; null: there is none. */
  readonly other: string | null;
};

const webAddress = /^https?:\/\//i;

const fields = String.raw`\w+_url|\w+_data|video|input_video|input_audio|file|fileData`;
const mediaField = new RegExp(`^(?:${fields})$`);

/** The names of media in a body as text: most have none, and need not be parsed again. */
export const mediaNames = new RegExp(`"(?:${fields}|images|source)"`);

/** `opened`: fields that the operator lets pass: `messages.content.video_url`, `contents.parts.fileData`. */
export function listUrlMedia(body: JsonObject, opened: OpenedFields = new Set()): UrlMedia {
  const images: UrlImage[] = [];
  let other: string | null = null;
  mapFields(body, conversations, '', (part, path) => {
    const type = typeof part.type === 'string' ? part.type : 'fileData';
    if (opened.has(`${path.replaceAll(/\[\d+\]/g, '')}.${type}`)) return part;
    const url = imageUrlOf(part);
    const isImage = url !== null && webAddress.test(url);
    if (isImage) images.push({ url, path });
    // Beside its image, it may name another address.
    if (namesAddress(isImage ? withBytes(part, '', '') : part)) other ??= type;
    return part;
  });
  return { images, other };
}

/** `images`: keyed by address. An image that is missing here stays unchanged. */
export function inlineImages(
  body: JsonObject,
  images: ReadonlyMap<string, ImageBytes>,
): JsonObject {
  return mapFields(body, conversations, '', (part) => {
    const image = images.get(imageUrlOf(part) ?? '');
    return image ? withBytes(part, image.mediaType, image.bytes.toString('base64')) : part;
  });
}

function withBytes(part: JsonObject, mediaType: string, data: string): JsonObject {
  const { image_url: holder, fileData, ...rest } = part;
  if (fileData !== undefined) return { ...rest, inlineData: { mimeType: mediaType, data } };
  if (holder === undefined)
    return { ...part, source: { type: 'base64', media_type: mediaType, data } };
  const url = `data:${mediaType};base64,${data}`;
  // Responses has the address itself there.
  if (part.type !== 'image_url' && !isObject(holder)) return { ...part, image_url: url };
  return { ...part, image_url: isObject(holder) ? { ...holder, url } : { url } };
}

function imageUrlOf({ type, image_url: holder, source, fileData }: JsonObject): string | null {
  let url: unknown = isObject(holder) ? holder.url : holder;
  if (isObject(source) && source.type === 'url' && type === 'image') url = source.url;
  if (isObject(fileData) && /^image\//i.test(String(fileData.mimeType))) url = fileData.fileUri;
  return typeof url === 'string' ? url : null;
}

function namesAddress(part: JsonObject): boolean {
  if (isObject(part.source) && part.source.type === 'url') return true;
  return Object.entries(part).some(
    ([name, held]) => mediaField.test(name) && holdsAddress(held, name),
  );
}

/** Words, which may name addresses. */
const words = new Set(['type', 'text', 'filename', 'name']);

/**
 * An address has a scheme, or leads to a host or file of the machine. Data are read where they are.
 * Text in a field for addresses, such as `image_url`, counts as one unless it is data. `name`: the field's.
 */
function holdsAddress(value: unknown, name: string): boolean {
  if (typeof value === 'string') {
    const head = headOf(value);
    const isAddress = /(?:^|_)url$|Uri$/.test(name) || /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(head);
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

/**
 * Where the wire formats have a conversation, and what in it may hold parts. Arguments of tools are
 * the client's own.
 */
const conversations = ['messages', 'input', 'contents', 'system', 'systemInstruction'];
const holders = ['content', 'output', 'images', 'parts', 'functionResponse', 'source'];

type Change = (part: JsonObject, path: string) => JsonObject;

/** Changes all parts, and those within them. */
function mapFields(
  holder: JsonObject,
  names: readonly string[],
  path: string,
  change: Change,
): JsonObject {
  const mapped = names.flatMap((name) => {
    const held = holder[name];
    if (typeof held !== 'object' || held === null) return [];
    return [[name, mapHeld(held, path === '' ? name : `${path}.${name}`, change)]];
  });
  return mapped.length === 0 ? holder : { ...holder, ...Object.fromEntries(mapped) };
}

function mapHeld(value: unknown, path: string, change: Change): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => mapHeld(item, `${path}[${index}]`, change));
  return isObject(value) ? mapFields(change(value, path), holders, path, change) : value;
}
