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

/** Of what Node reads from a connection at once. */
const pieceBytesMax = 64 * 1024;

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
  #waiting = 0;
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
    this.#connections.get(socket)?.forget();
  }

  /** Of each that was. */
  learn({ request, response }: Exchange, known: Known): void {
    const { socket } = request;
    let connection = this.#connections.get(socket);
    const bytes = connection?.takeBytes();
    const answer = known.answer.deref();
    if (!answer?.body || !mayComeAgain(request)) return;
    if (!connection) {
      connection = new KnownConnection(socket, response, (from, piece) => this.#answer(from, piece));
      this.#connections.set(socket, connection);
    }
    connection.watchAfter(response);
    if (bytes) {
      const isChunked = known.request.stream;
      this.#requests.remember(bytes, {
        known,
        route: request.url!,
        head: `HTTP/1.1 200 OK\r\n${linesOf(known.headers)}${isChunked ? 'Transfer-Encoding: chunked\r\n' : ''}${this.#keepAlive}`,
        framing: isChunked ? [`${Buffer.byteLength(answer.body).toString(16)}\r\n`, '\r\n0\r\n\r\n'] : ['', ''],
      });
    }
  }

  /** Whether there is an answer that its client has not taken yet. Node's server knows of none of them. */
  get isAnswering(): boolean {
    return this.#waiting > 0;
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
    if (!(counted instanceof Promise)) return this.#send(answering, counted);
    return this.#wait(counted.then((later) => this.#send(answering, later)));
  }

  #send(answering: Answering, counted: Counted | null): boolean | Promise<boolean> {
    const { socket, found, answer, traced, leave } = answering;
    if (!counted) {
      leave();
      return false;
    }
    const { known } = found;
    const { trace } = traced;
    noteKey(trace, known.request.key);
    noteWork(trace, known.request);
    noteReplay(trace, answer);
    traced.kind = known;
    // While it was counted, its client may have gone.
    if (!socket.writable) return this.#end(answering, true);
    this.#write(answering, counted);
    if (socket.writableLength === 0) return this.#end(answering, socket.destroyed);
    return this.#wait(this.#untilTaken(socket)).then((isTaken) => this.#end(answering, !isTaken));
  }

  #write({ socket, found, answer, traced }: Answering, counted: Counted): void {
    const { known, head } = found;
    const [before, after] = found.framing;
    const opening = `${head}${linesOf(this.#answers.headersOf(counted, traced))}Date: ${this.#date.now()}\r\n\r\n${before}`;
    const body = this.#bodyOf(answer.response);
    if (typeof body === 'string') socket.write(opening + body + after, known.encoding);
    else writeTogether(socket, [opening, body, after]);
  }

  #end({ traced, leave }: Answering, isClientGone: boolean): true {
    leave();
    this.#tracing.end(traced, { status: 200, isClientGone });
    return true;
  }

  /** Node has a connection's clock tell whoever takes nothing from who is slow, and drops the former. */
  async #untilTaken(socket: Socket): Promise<boolean> {
    socket.setTimeout(this.#answers.gateway.config.limits.stream_stall_ms);
    const isTaken = await new Promise<boolean>((resolve) => {
      socket.write('', (error) => resolve(!error));
    });
    socket.setTimeout(this.#keepAliveTimeoutMs);
    return isTaken;
  }

  async #wait<Result>(promise: Promise<Result>): Promise<Result> {
    this.#waiting += 1;
    try {
      return await promise;
    } finally {
      this.#waiting -= 1;
    }
  }
}

function writeTogether(socket: Socket, pieces: readonly (string | Buffer)[]): void {
  socket.cork();
  for (const piece of pieces) socket.write(piece, 'latin1');
  socket.uncork();
}

/** On the same connection, and in one piece. */
function mayComeAgain({ headers }: IncomingMessage): boolean {
  const { connection = 'keep-alive' } = headers;
  return connection.toLowerCase() === 'keep-alive' && Number(headers['content-length']) < pieceBytesMax;
}

function linesOf(headers: readonly string[]): string {
  let lines = '';
  for (let index = 0; index < headers.length; index += 2) lines += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return lines;
}
