// A last look at requests that Node calls late. After a stall of the process, Node checks its
// timeouts before it reads its sockets, and would refuse requests that have arrived since.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';

type Options = {
  readonly clock: Clock;
  readonly arrivalTimeoutMs: number;
  readonly refuse: (socket: Socket) => void;
};

/** Turns of the event loop in which a late socket is read on. One turn reads up to 2 MB. */
const turnsMax = 32;

export class LateRequests {
  readonly #options: Options;
  readonly #lastRequests = new WeakMap<Socket, IncomingMessage>();

  constructor(server: Server, options: Options) {
    this.#options = options;
    server.on('request', (request) => this.#lastRequests.set(request.socket, request));
  }

  /** Call when a socket's request is late. Refuses it unless it has arrived by now. */
  async judge(socket: Socket): Promise<void> {
    const { clock, arrivalTimeoutMs, refuse } = this.#options;
    const earlier = this.#lastRequests.get(socket);
    const isBodyLate = earlier?.complete === false;
    await readArrived(socket);
    const request = this.#lastRequests.get(socket);
    const hasCome = request !== earlier || (isBodyLate && earlier.complete);
    if (!hasCome || !request) return refuse(socket);
    // Node may not check again what it has once called late.
    if (!request.complete)
      clock.after(arrivalTimeoutMs, () => {
        if (!request.complete) void this.judge(socket);
      });
  }
}

async function readArrived(socket: Socket): Promise<void> {
  for (let turn = 0; turn < turnsMax; turn++) {
    const { bytesRead } = socket;
    await setImmediate();
    if (socket.bytesRead === bytesRead) return;
  }
}
