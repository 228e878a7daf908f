// Reads the multipart form that OpenAI's clients send to `POST /v1/images/edits`. Each part costs
// far more time than its bytes, so the number of parts and the size of their headers are bounded.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ContentDisposition } from '@remix-run/headers/content-disposition';
import { ContentType } from '@remix-run/headers/content-type';
import {
  MaxHeaderSizeExceededError,
  MaxPartsExceededError,
  MultipartParser,
  type MultipartPart,
} from '@remix-run/multipart-parser';
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import { readEditForm, type FormPart } from '../domain/images/edit-form.ts';
import { checkContentType, readJsonBody } from './middleware/body.ts';

/** A request has at most some twenty fields and sixteen images. */
export const partsMax = 100;
/** Enough for a file name of 255 bytes in two encodings, each byte written as `%XX`. */
export const partHeaderBytesMax = 4_096;
const nameLengthMax = 100;
/** https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1 */
const boundaryLengthMax = 70;

export const formType = /^\s*multipart\/form-data\s*;/i;

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
export function readFormBody(request: FastifyRequest): unknown {
  const contentType = request.headers['content-type'] ?? '';
  if (!formType.test(contentType)) return readJsonBody(request);
  const bytes = request.body instanceof Uint8Array ? request.body : Buffer.alloc(0);
  request.body = undefined;
  const parts = readForm(bytes, contentType);
  request.bodies?.noteRequest(Buffer.from(JSON.stringify(parts.map(describePart), null, 2)));
  return readEditForm(parts);
}

/** The bytes of a file are of no use to a reader. */
function describePart(part: FormPart): object {
  if (part.kind === 'text') return { [part.name]: part.text };
  return { [part.name]: `(a file of ${part.bytes.length} bytes)` };
}

/** Returns the parts of a form. Throws ApiError `invalid_request`. */
export function readForm(bytes: Uint8Array, contentType: string): readonly FormPart[] {
  const parser = new MultipartParser(boundaryOf(contentType), {
    maxParts: partsMax,
    maxHeaderSize: partHeaderBytesMax,
    maxFileSize: bytes.length,
    maxTotalSize: bytes.length,
  });
  try {
    const parts = Array.from(parser.write(bytes), readPart);
    parser.finish();
    return parts;
  } catch (cause) {
    throw cause instanceof ApiError ? cause : malformed(whatIsWrong(cause));
  }
}

function readPart(part: MultipartPart): FormPart {
  const { name, fileName } = readDisposition(part.headers['content-disposition'] ?? null);
  if (fileName === null) return { name, kind: 'text', text: part.text };
  return { name, kind: 'file', bytes: Buffer.concat(part.content) };
}

/** Throws ApiError `invalid_request`. */
export function boundaryOf(contentType: string): string {
  const { boundary = '' } = ContentType.from(contentType);
  if (boundary === '' || boundary.length > boundaryLengthMax)
    throw malformed(`its \`boundary\` must have 1 to ${boundaryLengthMax} characters`);
  return boundary;
}

/** Returns the name of a part, and of its file; null: it is none. Throws ApiError `invalid_request`. */
export function readDisposition(header: string | null) {
  const { type, name = '', filename, filenameSplat } = ContentDisposition.from(header);
  if (type?.toLowerCase() !== 'form-data' || name === '' || name.length > nameLengthMax)
    throw malformed(
      `each part must have \`Content-Disposition: form-data\` and a name of 1 to ${nameLengthMax} characters`,
    );
  return { name, fileName: filename ?? filenameSplat ?? null };
}

function whatIsWrong(error: unknown): string {
  if (error instanceof MaxPartsExceededError) return `it has more than ${partsMax} parts`;
  if (error instanceof MaxHeaderSizeExceededError)
    return `a part has headers of more than ${partHeaderBytesMax} bytes`;
  return 'its parts or their boundary are malformed, or its texts are not UTF-8';
}

export function malformed(problem: string): ApiError {
  return invalidRequest(null, `The form cannot be read: ${problem}.`);
}
