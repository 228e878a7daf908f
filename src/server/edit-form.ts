// Reads the multipart form that OpenAI's clients send to `POST /v1/images/edits`, with the parser
// of Node's own fetch.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import { readEditForm, type FormPart } from '../domain/images/edit-form.ts';
import { checkContentType, readJsonBody } from './middleware/body.ts';

const formType = /^\s*multipart\/form-data\s*;/i;

/** A Fastify onRequest hook: accepts a form, or JSON as for generations. Throws ApiError 415. */
export function checkFormType(
  request: FastifyRequest,
  reply: FastifyReply,
  next: () => void,
): void {
  const contentType = request.headers['content-type'] ?? '';
  if (formType.test(contentType)) return next();
  if (/^\s*application\//i.test(contentType)) return checkContentType(request, reply, next);
  throw new ApiError(
    'unsupported_media_type',
    'The body must be `multipart/form-data` with the images, or JSON.',
  );
}

/** Returns the JSON body that the form stands for. Throws ApiError `invalid_request`. */
export async function readFormBody(request: FastifyRequest): Promise<unknown> {
  const contentType = request.headers['content-type'] ?? '';
  if (!formType.test(contentType)) return readJsonBody(request);
  const bytes = request.body instanceof Uint8Array ? request.body : Buffer.alloc(0);
  request.body = undefined;
  const parts = await Promise.all((await partsOf(bytes, contentType)).map(readPart));
  request.bodies?.noteRequest(Buffer.from(JSON.stringify(parts.map(describePart), null, 2)));
  return readEditForm(parts);
}

/** The bytes of a file are of no use to a reader. */
function describePart(part: FormPart): object {
  if (part.kind === 'text') return { [part.name]: part.text };
  return { [part.name]: `(a file of ${part.bytes.length} bytes)` };
}

async function partsOf(bytes: Uint8Array, contentType: string): Promise<[string, string | File][]> {
  try {
    // The buffer belongs to this body alone: nothing else reads it.
    const form = await new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { 'content-type': contentType },
    }).formData();
    return [...form];
  } catch (cause) {
    throw new ApiError(
      'invalid_request',
      'The form cannot be read: its parts or their boundary are malformed.',
      { cause },
    );
  }
}

async function readPart([name, value]: [string, string | File]): Promise<FormPart> {
  if (typeof value === 'string') return { name, kind: 'text', text: value };
  return { name, kind: 'file', bytes: Buffer.from(await value.arrayBuffer()) };
}
