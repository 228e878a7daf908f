// Answers malformed and late requests directly on their socket, because they never reach Fastify's
// hooks.
import type { Socket } from 'node:net';
import { ApiError, type ErrorContext } from '../canonical/errors.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import { STATUS_CODES } from '../lib/node-http.ts';
import { clientFormats } from '../formats/registry.ts';

/** The time for a client to close its end, too, after it was answered here. */
const lingerMs = 2_000;

type PublicUrl = ErrorContext['publicUrl'];

/** Handles an error of Node's HTTP parser. */
export function answerMalformed(
  error: Error & { code?: string },
  socket: Socket,
  publicUrl: PublicUrl,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
  else if (error.code === 'HPE_HEADER_OVERFLOW')
    answerAndClose(socket, publicUrl, new ApiError('headers_too_large', tooLarge));
  else
    answerAndClose(
      socket,
      publicUrl,
      new ApiError('invalid_request', 'This is not an HTTP request.'),
    );
}

export function answerLate(socket: Socket, publicUrl: PublicUrl): void {
  if (!socket.writable) socket.destroy();
  else answerAndClose(socket, publicUrl, new ApiError('request_timeout', late));
}

const tooLarge = 'The headers are too large: send fewer or shorter ones.';
const late = 'The request did not arrive in time. Send it again.';

function answerAndClose(socket: Socket, publicUrl: PublicUrl, error: ApiError): void {
  const { status } = error;
  const requestId = newIdWithPrefix('req');
  // Its path is unknown, so it gets the format of most endpoints.
  const body = JSON.stringify(clientFormats.responses.writeError(error, { requestId, publicUrl }));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nx-request-id: ${requestId}\r\nconnection: close\r\n` +
      `cache-control: no-store\r\nx-content-type-options: nosniff\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  socket.setTimeout(lingerMs, () => socket.destroy());
}
