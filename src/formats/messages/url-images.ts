// Images that a Messages request gives by URL, put into it as base64: Anthropic's endpoint for counting takes no other kind.
import type { ImageBytes } from '../../lib/image.ts';
import { isObject } from '../../lib/json.ts';
import type { ClientRequest, JsonObject } from '../format.ts';

export type UrlImage = {
  readonly url: string;
  /** Of its block: `messages[0].content[1]`. */
  readonly path: string;
};

/** In their order, those inside of results of tools among them. */
export function listUrlImages({ body }: ClientRequest): readonly UrlImage[] {
  const found: UrlImage[] = [];
  mapBlocks(body, (block, path) => {
    const url = urlOf(block, 'image');
    if (url !== null) found.push({ url, path });
    return block;
  });
  return found;
}

/** Whether it gives a document by URL, which cannot be put into it: there may be anything at the URL. */
export function hasUrlDocument({ body }: ClientRequest): boolean {
  let has = false;
  mapBlocks(body, (block) => {
    has ||= urlOf(block, 'document') !== null;
    return block;
  });
  return has;
}

/** `images`: by URL. One that is not among them stays as it is. */
export function inlineImages(request: ClientRequest, images: ReadonlyMap<string, ImageBytes>): ClientRequest {
  const body = mapBlocks(request.body, (block) => {
    const url = urlOf(block, 'image');
    const image = url === null ? undefined : images.get(url);
    if (!image) return block;
    const { mediaType, bytes } = image;
    return { ...block, source: { type: 'base64', media_type: mediaType, data: bytes.toString('base64') } };
  });
  return { ...request, body };
}

function urlOf({ type, source }: JsonObject, wanted: string): string | null {
  if (type !== wanted || !isObject(source) || source.type !== 'url') return null;
  return typeof source.url === 'string' ? source.url : null;
}

type Change = (block: JsonObject, path: string) => JsonObject;

function mapBlocks(body: JsonObject, change: Change): JsonObject {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  return { ...body, messages: messages.map((message, index) => mapContent(message, change, `messages[${index}]`)) };
}

/** A message or a block, whose `content` may be a list of blocks. */
function mapContent(holder: unknown, change: Change, path: string): unknown {
  if (!isObject(holder) || !Array.isArray(holder.content)) return holder;
  const content = holder.content.map((block: unknown, index) => {
    const at = `${path}.content[${index}]`;
    return isObject(block) ? mapContent(change(block, at), change, at) : block;
  });
  return { ...holder, content };
}
