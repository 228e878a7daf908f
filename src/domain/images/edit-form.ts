// Turns the multipart form that OpenAI's clients send to `POST /v1/images/edits` into the
// equivalent JSON body: files become data URLs, texts become numbers and booleans where needed. The
// server splits the body into parts.
import { invalidRequest } from '../../canonical/errors.ts';
import { imageTypeOf, imageTypesInWords } from '../../lib/image.ts';

/**
 * A part of the form. A part with a file name or a type is a file and has `bytes`; any other has
 * text.
 */
export type FormPart =
  | { readonly name: string; readonly kind: 'text'; readonly text: string }
  | { readonly name: string; readonly kind: 'file'; readonly bytes: Buffer };

const numberFields = new Set([
  'n',
  'output_compression',
  'partial_images',
  'frame_count',
  'frame_duration_ms',
]);
const truthFields = new Set(['stream']);

/**
 * Returns the body for `parseImageRequest`. Takes files and URLs as `image`, `image[]`, `images`
 * and `images[]`. Throws ApiError `invalid_request` for a file that is not an image or has another
 * name, and for a repeated field.
 */
export function readEditForm(parts: readonly FormPart[]): Readonly<Record<string, unknown>> {
  const images: string[] = [];
  const fields = new Map<string, unknown>();
  for (const given of parts) {
    // Clients of LiteLLM send it so (github.com/BerriAI/litellm/pull/39512, read 2026-11-30).
    const part = given.name === 'mask[]' ? { ...given, name: 'mask' } : given;
    if (isImageField(part.name))
      images.push(readImagePart(part, `image ${images.length + 1} of the form`));
    else if (fields.has(part.name))
      throw invalidRequest(part.name, `${part.name} is given twice; send it once`);
    else fields.set(part.name, readField(part));
  }
  return Object.fromEntries([
    ...fields,
    ...(images.length > 0 ? [['images', images] as const] : []),
  ]);
}

function isImageField(name: string): boolean {
  return /^images?(?:\[\d{0,3}\])?$/.test(name);
}

function readImagePart(part: FormPart, subject: string): string {
  if (part.kind === 'text') return part.text;
  const mediaType = imageTypeOf(part.bytes);
  if (mediaType !== null) return `data:${mediaType};base64,${part.bytes.toString('base64')}`;
  throw invalidRequest(part.name, `${subject} is not a ${imageTypesInWords} image`);
}

/** `markup` is also a file. It is replaced by `true`, so that its refusal reads as for JSON. */
function readField(part: FormPart): unknown {
  const { name } = part;
  if (part.kind === 'file') {
    if (name === 'mask') return readImagePart(part, 'mask');
    if (name === 'markup') return true;
    throw invalidRequest(name, `${name} must be text; files are sent as \`image\` or \`image[]\``);
  }
  if (numberFields.has(name) && /^-?\d{1,9}$/.test(part.text)) return Number(part.text);
  if (truthFields.has(name) && /^(?:true|false)$/.test(part.text)) return part.text === 'true';
  return part.text;
}
