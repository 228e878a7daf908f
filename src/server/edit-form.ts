// Reads the multipart form that OpenAI's clients send to `POST /v1/images/edits`.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import { readEditForm, type FormPart } from '../domain/images/edit-form.ts';
import { formType, partsOf, readText } from './form-parts.ts';
import { checkContentType, readJsonBody } from './middleware/body.ts';

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
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  request.body = undefined;
  const parts = await readForm(bytes, contentType);
  request.bodies?.noteRequest(Buffer.from(JSON.stringify(parts.map(describePart), null, 2)));
  return readEditForm(parts);
}

/** The bytes of a file are of no use to a reader. */
function describePart(part: FormPart): object {
  if (part.kind === 'text') return { [part.name]: part.text };
  return { [part.name]: `(a file of ${part.bytes.length} bytes)` };
}

/** Returns the parts of a form. Throws ApiError `invalid_request`. */
export function readForm(form: Buffer, contentType: string): Promise<readonly FormPart[]> {
  const read = (position: number, length: number) => form.subarray(position, position + length);
  const parts = partsOf({ bytes: form.length, read }, contentType);
  return Array.fromAsync(parts, ({ name, fileName, start, bytes: length }): FormPart => {
    const bytes = read(start, length);
    return fileName === null
      ? { name, kind: 'text', text: readText(bytes) }
      : { name, kind: 'file', bytes };
  });
}
