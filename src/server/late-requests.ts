// A last look at requests that Node calls late. After a stall of the process, Node checks its
// timeouts before it reads its sockets, and would refuse requests that have arrived since.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** Turns of the event loop in which a late socket is read on. One turn reads up to 2 MB. */
const turnsMax = 32;

/**
 * Returns a function to call when a socket's request is late. It calls `refuse` unless the request
 * has arrived by now. `recheckLater` is called when only its headers have.
 */
export function watchLateRequests(
  server: Server,
  refuse: (socket: Socket) => void,
  recheckLater: (recheck: () => void) => void,
): (socket: Socket) => Promise<void> {
  const lastRequests = new WeakMap<Socket, IncomingMessage>();
  server.on('request', (request) => lastRequests.set(request.socket, request));
  return async function judge(socket) {
    const earlier = lastRequests.get(socket);
    const isBodyLate = earlier?.complete === false;
    await readArrived(socket);
    const request = lastRequests.get(socket);
    const hasCome = request !== earlier || (isBodyLate && earlier.complete);
    if (!hasCome || !request) return refuse(socket);
    // Node may not check again what it has once called late.
    if (!request.complete) recheckLater(() => void (request.complete || judge(socket)));
  };
}

async function readArrived(socket: Socket): Promise<void> {
  for (let turn = 0; turn < turnsMax; turn++) {
    const { bytesRead } = socket;
    await setImmediate();
    if (socket.bytesRead === bytesRead) return;
  }
}
