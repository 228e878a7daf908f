// Reads on after a body was refused. Closing a connection while its client still sends resets it,
// and the client may then lose the answer. So our end is closed first, and the rest is read and
// dropped. https://www.rfc-editor.org/rfc/rfc9112#section-9.6
import type { IncomingMessage } from 'node:http';

/**
 * The most bytes that are read of a refused body. `server.arrival_timeout_ms` limits the time, as
 * for any body.
 */
const droppedBytesMax = 128 * 1024 * 1024;

/**
 * Call before the answer that refuses the body. The connection closes when the body has ended or is
 * far too long.
 */
export function lingerUntilSent(payload: IncomingMessage): void {
  const { socket } = payload;
  const readBytesMax = socket.bytesRead + droppedBytesMax;
  const close = socket.destroySoon.bind(socket);
  let hasEnded = false;
  // Node calls it after the last answer of a connection.
  socket.destroySoon = () => {
    if (hasEnded) close();
    else socket.end();
  };
  payload
    .on('data', () => {
      if (socket.bytesRead > readBytesMax) socket.destroy();
    })
    .once('end', () => {
      hasEnded = true;
      if (socket.writableEnded) close();
    });
}
