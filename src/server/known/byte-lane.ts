// The shortest way: a request that is known by all of its bytes, head and body, is answered before it is parsed. It learns from the lane
// behind it, which reads requests as usual, and asks the same of key, answer and limits each time.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WholeResponse } from '../../canonical/stored-response.ts';
import { noteKey, noteWork } from '../../gateway/endpoint.ts';
import type { Counted, RecalledAnswer } from '../../gateway/known-request.ts';
import { noteReplay } from '../../gateway/replay.ts';
import { HttpDate } from '../../lib/http-date.ts';
import type { Traced } from '../ended-requests.ts';
import type { Tracing } from '../middleware/trace.ts';
import type { KnownAnswers } from './known-answers.ts';
import { KnownConnection } from './known-connection.ts';
import type { Known } from './known-requests.ts';
import { type WholeRequest, WholeRequests } from './whole-requests.ts';

type ByteLaneOptions = {
  readonly answers: KnownAnswers;
  readonly tracing: Tracing;
  readonly keepAliveTimeoutMs: number;
  /** An answer's body in the form that is sent best. */
  readonly bodyOf: (answer: WholeResponse) => string | Buffer;
};

/** Longer requests do not come in one piece. */
const bodyBytesMax = 64 * 1024;

type Answering = {
  readonly socket: Socket;
  readonly found: WholeRequest;
  readonly answer: RecalledAnswer;
  readonly traced: Traced;
  readonly leave: () => void;
};

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

export class ByteLane {
  readonly #answers: KnownAnswers;
  readonly #tracing: Tracing;
  readonly #bodyOf: ByteLaneOptions['bodyOf'];
  readonly #keepAliveTimeoutMs: number;
  readonly #keepAlive: string;
  readonly #date = new HttpDate();
  readonly #onTheirWay = new Set<Promise<boolean>>();
  readonly #connections = new WeakMap<Socket, KnownConnection>();
  readonly #requests = new WholeRequests();

  constructor({ answers, tracing, keepAliveTimeoutMs, bodyOf }: ByteLaneOptions) {
    this.#bodyOf = bodyOf;
    this.#answers = answers;
    this.#tracing = tracing;
    this.#keepAliveTimeoutMs = keepAliveTimeoutMs;
    this.#keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1_000)}\r\n`;
  }

  /** Of each request that is parsed. */
  note(request: IncomingMessage, response: ServerResponse): void {
    this.#connections.get(request.socket)?.note(request, response);
  }

  /** Of each that is not answered as known. */
  forget({ socket }: IncomingMessage): void {
    this.#connections.get(socket)?.takeBytes();
  }

  /** Of each that was. `bodyBytes`: of its body. */
  learn({ request, response }: Exchange, known: Known, bodyBytes: number): void {
    const { socket } = request;
    const connection = this.#connections.get(socket);
    const bytes = connection?.takeBytes();
    const answer = known.answer.deref();
    if (!answer || bodyBytes > bodyBytesMax || !isKeptAlive(request)) return;
    if (!connection) {
      const watched = KnownConnection.watch(socket, response, (from, piece) => this.#answer(from, piece));
      if (watched) this.#connections.set(socket, watched);
    } else if (bytes) {
      const isChunked = known.request.stream;
      this.#requests.remember({
        bytes,
        known,
        route: request.url!,
        head: `HTTP/1.1 200 OK\r\n${linesOf(known.headers)}${isChunked ? 'Transfer-Encoding: chunked\r\n' : ''}${this.#keepAlive}`,
        framing: isChunked ? [`${Buffer.byteLength(answer.body).toString(16)}\r\n`, '\r\n0\r\n\r\n'] : ['', ''],
      });
    }
  }

  /** Resolves when no answer is on its way. Node's server knows of none of them, and would close their connections. */
  async whenTaken(): Promise<void> {
    await Promise.allSettled(this.#onTheirWay);
  }

  /** Forgets whatever can be of no use any more. */
  sweep(): void {
    this.#requests.sweep(({ known }) => known.answer.deref() !== undefined && this.#answers.isValid(known.request.key));
  }

  #answer(socket: Socket, bytes: Buffer): boolean | Promise<boolean> {
    if (!this.#answers.isOpen) return false;
    const found = this.#requests.find(bytes);
    const answer = found && this.#answers.recall(found.known.request);
    // Another answer has other headers.
    if (!answer || found.known.answer.deref() !== answer.response) return false;
    // From here on a shutdown waits for it.
    const leave = this.#answers.gateway.runs.enter();
    const traced = this.#tracing.begin({ method: 'POST', route: found.route });
    const answering = { socket, found, answer, traced, leave };
    const counted = this.#answers.count(found.known.request);
    if (counted instanceof Promise) return this.#untilTaken(counted.then((later) => this.#send(answering, later)));
    return this.#send(answering, counted);
  }

  #send({ socket, found, answer, traced, leave }: Answering, counted: Counted | null): boolean {
    if (!counted) {
      leave();
      return false;
    }
    const { known, head } = found;
    const { trace } = traced;
    noteKey(trace, known.request.key);
    noteWork(trace, known.request);
    noteReplay(trace, answer);
    traced.kind = known;
    const [before, after] = found.framing;
    const opening = `${head}${linesOf(this.#answers.headersOf(counted, traced))}Date: ${this.#date.now()}\r\n\r\n${before}`;
    const body = this.#bodyOf(answer.response);
    if (typeof body === 'string') socket.write(opening + body + after, known.encoding);
    else writeTogether(socket, [opening, body, after]);
    const end = (isClientGone: boolean) => {
      leave();
      this.#tracing.end(traced, { status: 200, isClientGone });
    };
    if (socket.writableLength === 0) end(socket.destroyed);
    else void this.#endWhenTaken(socket, end);
    return true;
  }

  async #endWhenTaken(socket: Socket, end: (isClientGone: boolean) => void): Promise<void> {
    const stallMs = this.#answers.gateway.config.limits.stream_stall_ms;
    // Node has a connection's clock tell whoever takes nothing from who is slow, and drops the former.
    socket.setTimeout(stallMs);
    const taken = new Promise<boolean>((resolve) => {
      socket.write('', (error) => resolve(!error));
    });
    const isTaken = await this.#untilTaken(taken);
    // Unless the clock has been set for a request that came meanwhile.
    if (socket.timeout === stallMs) socket.setTimeout(this.#keepAliveTimeoutMs);
    end(!isTaken);
  }

  async #untilTaken(sending: Promise<boolean>): Promise<boolean> {
    this.#onTheirWay.add(sending);
    try {
      return await sending;
    } finally {
      this.#onTheirWay.delete(sending);
    }
  }
}

function writeTogether(socket: Socket, pieces: readonly (string | Buffer)[]): void {
  socket.cork();
  for (const piece of pieces) socket.write(piece, 'latin1');
  socket.uncork();
}

function isKeptAlive({ headers: { connection } }: IncomingMessage): boolean {
  return connection === undefined || connection.toLowerCase() === 'keep-alive';
}

function linesOf(headers: readonly string[]): string {
  let lines = '';
  for (let index = 0; index < headers.length; index += 2) lines += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return lines;
}
