// Reads on after a body was refused. A connection that is closed while its client still sends is reset, and the reset takes the answer away
// before it is read: so our end is closed first, and the rest is read and dropped. https://www.rfc-editor.org/rfc/rfc9112#section-9.6
import type { IncomingMessage } from 'node:http';

/** What is read of a refused body. Its time is bounded by `server.arrival_timeout_ms`, as that of any. */
const droppedBytesMax = 128 * 1024 * 1024;

/** To be called before the answer that refuses the body. The connection closes when the body has ended, or is far too long. */
export function lingerUntilSent(payload: IncomingMessage): void {
  const { socket } = payload;
  const readBytesMax = socket.bytesRead + droppedBytesMax;
  const close = socket.destroySoon.bind(socket);
  let hasEnded = false;
  // Node calls it when it has written an answer that is the last of its connection.
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
