// Reads a multipart form with a file that may be large: the body goes to disk as it arrives, and only
// its texts are read into memory. Fields may follow the file, so nothing is decided before its end.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, unlink, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import { readAudioSeconds } from '../lib/audio-seconds.ts';
import { Upload } from '../lib/upload.ts';
import { ownersOf, roomOf, type RoomsByMode } from './body-room.ts';
import { formType, partsOf, readText } from './form-parts.ts';
import { tooLarge } from './middleware/body.ts';
import { overloaded } from './overload.ts';

const textBytesMax = 1024 * 1024;

/** A body on disk. Closing it, at most once, frees its room. */
export class SpooledBody {
  readonly handle: FileHandle;
  readonly bytes: number;
  /** A handler reads it, and closes it. */
  isTaken = false;
  readonly #leave: () => void;
  #isOpen = true;

  constructor(handle: FileHandle, bytes: number, leave: () => void) {
    [this.handle, this.bytes, this.#leave] = [handle, bytes, leave];
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#leave();
    await this.handle.close();
  }
}

/** A Fastify onRequest hook. Throws ApiError 415. */
export function checkUploadType(
  { headers }: FastifyRequest,
  _reply: FastifyReply,
  next: () => void,
): void {
  if (formType.test(headers['content-type'] ?? '')) return next();
  throw new ApiError(
    'unsupported_media_type',
    'The body must be `multipart/form-data` with a file as `file`.',
  );
}

/** Returns the function that writes a body to disk. It throws ApiError. */
export function spoolTo(folder: string, rooms: RoomsByMode) {
  return async (
    request: FastifyRequest,
    payload: IncomingMessage,
    bytesMax: number,
  ): Promise<SpooledBody> => {
    if (Number(payload.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
    const place = roomOf(request, rooms).enter(ownersOf(request));
    const refused = new AbortController();
    place.onRefused(() => refused.abort(overloaded()));
    let handle: FileHandle | null = null;
    try {
      handle = await openNameless(folder);
      let bytes = 0;
      // The client must be able to read the error.
      for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
        const piece = chunk as Buffer;
        bytes += piece.length;
        if (bytes > bytesMax) throw tooLarge(bytesMax);
        place.take(piece.length);
        refused.signal.throwIfAborted();
        await handle.write(piece);
      }
      place.keep(bytes);
      const { socket } = request.raw;
      const abandon = () => {
        if (!spooled.isTaken) void spooled.close();
      };
      // A connection may have any number of uploads.
      const spooled = new SpooledBody(handle, bytes, () => {
        socket.off('close', abandon);
        place.leave();
      });
      socket.once('close', abandon);
      return spooled;
    } catch (cause) {
      place.leave();
      await handle?.close();
      throw asApiError(cause, payload);
    }
  };
}

/** Opens a file that has no name any more. */
async function openNameless(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomUUID());
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}

function asApiError(cause: unknown, payload: IncomingMessage): unknown {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC') return overloaded();
  if (cause instanceof ApiError || !payload.destroyed) return cause;
  return new ApiError('invalid_request', 'The body broke off before its end.', { cause });
}

/**
 * Returns the body that the form stands for: its texts, lists under their names without `[]`, and the
 * length and digest of `file`. Throws ApiError `invalid_request`.
 */
export async function readUploadForm(request: FastifyRequest): Promise<unknown> {
  const body = request.body as SpooledBody;
  // Names are the client's, and may be those of methods.
  const fields = Object.create(null) as Record<string, unknown>;
  const whole = new Upload(body.handle, { name: '', start: 0, bytes: body.bytes });
  const parts = partsOf(whole, request.headers['content-type'] ?? '');
  for await (const { name, fileName, start, bytes } of parts) {
    if (name === 'file' && fileName !== null && !request.upload) {
      request.upload = new Upload(body.handle, { name: fileName, start, bytes });
      fields.file = { bytes, sha256: await digestOf(request.upload) };
      continue;
    }
    if (fileName !== null)
      throw invalidRequest(name, `${name} must ${name === 'file' ? 'come once' : 'not be a file'}`);
    // It would stand in the place of the file's digest, by which repeats are known.
    if (/^file(?:\[|$)/.test(name))
      throw invalidRequest(name, `${name} must be a file, with a file name`);
    if (bytes > textBytesMax)
      throw invalidRequest(name, `${name} must have at most ${textBytesMax} bytes`);
    addField(fields, name, readText(await whole.read(start, bytes)));
  }
  request.bodies?.noteRequest(Buffer.from(JSON.stringify(fields, null, 2)));
  return { ...fields };
}

/** Reads a form whose `file` is sound. Throws ApiError `invalid_request`. */
export async function readSoundForm(request: FastifyRequest): Promise<unknown> {
  const fields = await readUploadForm(request);
  if (request.upload) request.upload.seconds = await readAudioSeconds(request.upload);
  return fields;
}

function addField(fields: Record<string, unknown>, name: string, text: string): void {
  const [, list] = /^(.+)\[\d{0,3}\]$/.exec(name) ?? [];
  const before = fields[list ?? name];
  if (list !== undefined) fields[list] = Array.isArray(before) ? [...before, text] : [text];
  else if (before !== undefined) throw invalidRequest(name, `${name} is given twice; send it once`);
  else fields[name] = text;
}

async function digestOf(upload: Upload): Promise<string> {
  const digest = createHash('sha256');
  for await (const piece of upload.pieces()) digest.update(piece);
  return digest.digest('base64url');
}
