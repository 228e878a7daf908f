// An upstream that breaks HTTP itself, on raw sockets: half a head, a wrong length or a broken
// chunk, which node:http never sends. It serves the paths of all hosts, and writes texts with a byte
// for each character. Each request names its fault in its own text, so any number can run at once:
//
//   const server = await startFaultServer(faults);  // tests/support/faults.ts
//   … 'Hello [[fault reset-mid-body cell-17 1]]' …  // the first request of cell-17 fails, later ones succeed
//   server.callsOf('cell-17');                      // the number of requests
//   server.busySockets;                             // sockets with an open answer; not 0 at the end: a leak
//
// A test's clock moves while all open requests wait for a silent upstream. `asked` and `answered`
// report which requests are open.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { type CancelTimer, type Clock, systemClock } from '../../src/lib/clock.ts';
import type { Content } from './answers.ts';
import { taskSamples } from './task-samples.ts';
import {
  asksForStream,
  encodeFrames,
  hostOf,
  modelHosts,
  streamOf,
  streamType,
  wholeOf,
  type ModelHost,
} from './model-hosts.ts';
import { flushEventLoop, TestClock } from './test-clock.ts';
import type { SseFrame } from './upstream.ts';

/** The input of a fault: one request, its socket, and the good answer to it. */
export type FaultCall = {
  readonly host: ModelHost;
  readonly stream: boolean;
  /** The raw request, for providers that quote it. */
  readonly request: { readonly head: string; readonly body: string };
  readonly content: Content;
  /** The good answer of a task, which is whole; left out: a conversation's. */
  readonly task?: object;
  /** Resolves when the kernel has accepted the bytes, or the gateway has disconnected. */
  readonly write: (bytes: string | Uint8Array) => Promise<void>;
  /** Closes the connection in order (FIN). */
  readonly close: () => void;
  /** Resets the connection after the written bytes have arrived. */
  readonly reset: () => Promise<void>;
  readonly isGone: () => boolean;
  readonly nowMs: () => number;
  /** Sends nothing for this long. */
  readonly pause: (milliseconds: number) => Promise<void>;
};

/**
 * Resolves when the answer is written. A socket left open serves the next request, unless the
 * result is `hang`.
 */
export type PlayFault = (call: FaultCall) => Promise<'hang' | void>;

export type FaultServer = {
  readonly url: string;
  readonly port: number;
  readonly callsOf: (cell: string) => number;
  readonly busySockets: number;
  /** The test has sent a request of this cell. */
  readonly asked: (cell: string) => void;
  /** The test has received the answer. */
  readonly answered: (cell: string) => void;
  readonly close: () => Promise<void>;
};

/** The instruction to the server, for use in a prompt. */
export function faultMark(fault: string, cell: string, times = 1): string {
  return `[[fault ${fault} ${cell} ${times}]]`;
}

/**
 * Markers that occur in no other text, with characters that URLs and JSON escape. Finding one means
 * that confidential text leaked.
 */
export const canaryCores = { prompt: 'pr0mpt/c4nary+"of~', answer: 'answ3r/c4nary+"of~' };
export const promptCanary = (cell: string) => `${canaryCores.prompt}${cell}~`;
const answerCanary = (cell: string) => `${canaryCores.answer}${cell}~`;

/**
 * The text of a good answer. It names its cell, so that an answer to the wrong request is noticed.
 */
export function answerText(cell: string): string {
  return `The answer to ${cell} is here: ${answerCanary(cell)}.`;
}

export const goodTokens = { input: 11, output: 7 };

export async function startFaultServer(
  plays: ReadonlyMap<string, PlayFault>,
  clock: Clock = systemClock,
): Promise<FaultServer> {
  const calls = new Map<string, number>();
  const sockets = new Set<Socket>();
  const busy = new Set<Socket>();
  const silences = new Silences(clock);
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      busy.delete(socket);
      silences.end(socket);
    });
    serve(socket, { plays, calls, busy, clock, silences });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    callsOf: (cell) => calls.get(cell) ?? 0,
    get busySockets() {
      return busy.size;
    },
    asked: (cell) => silences.asked(cell),
    answered: (cell) => silences.answered(cell),
    close: async () => {
      silences.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Serving = {
  readonly plays: ReadonlyMap<string, PlayFault>;
  readonly calls: Map<string, number>;
  readonly busy: Set<Socket>;
  readonly clock: Clock;
  readonly silences: Silences;
};

/** Real time. */
const stuckMs = 5_000;

/**
 * Moves a test's clock while every open request waits for a silent upstream, so that time never
 * overtakes an answer that is being sent. The clock also moves when nothing has happened for some
 * seconds: the gateway then waits for time itself, such as its ledger for a locked file.
 */
class Silences {
  readonly #clock: TestClock | null;
  readonly #asked = new Set<string>();
  /** The connection that the cell's silent upstream holds open. */
  readonly #silent = new Map<string, Socket>();
  #isMoving = false;
  #hasChanged = false;
  readonly #stopLooking: CancelTimer;

  constructor(clock: Clock) {
    this.#clock = clock instanceof TestClock ? clock : null;
    this.#stopLooking = systemClock.every(stuckMs, () => {
      if (this.#asked.size > 0 && !this.#hasChanged) void this.#move(true);
      this.#hasChanged = false;
    });
  }

  close(): void {
    this.#stopLooking();
  }

  asked(cell: string): void {
    this.#hasChanged = true;
    this.#asked.add(cell);
    this.#silent.delete(cell);
  }

  answered(cell: string): void {
    this.#hasChanged = true;
    this.#asked.delete(cell);
    void this.#move();
  }

  /**
   * Lasts until `end`, also when the gateway gives up: it then writes to its ledger in real time,
   * and the clock must stand still.
   */
  begin(cell: string, socket: Socket): void {
    if (socket.destroyed) return;
    this.#hasChanged = true;
    this.#silent.set(cell, socket);
    void this.#move();
  }

  end(socket: Socket): void {
    for (const [cell, silent] of this.#silent) if (silent === socket) this.#silent.delete(cell);
  }

  async #move(isStuck = false): Promise<void> {
    if (!this.#clock || this.#isMoving) return;
    this.#isMoving = true;
    // The gateway checks its timeouts at the same interval.
    if (isStuck) await this.#clock.advance(1_000);
    while (this.#asked.size > 0 && this.#asked.isSubsetOf(this.#silent))
      await this.#clock.advance(1_000);
    this.#isMoving = false;
  }
}

/**
 * Serves one request at a time, as the gateway sends them. Keeps reading during an answer, to
 * notice when the gateway disconnects.
 */
function serve(socket: Socket, serving: Serving): void {
  let bytes = Buffer.alloc(0);
  socket.on('data', (piece: Buffer) => {
    bytes = Buffer.concat([bytes, piece]);
    const request = readRequest(bytes);
    if (!request) return;
    bytes = Buffer.alloc(0);
    void answer(socket, request, serving);
  });
}

async function answer(socket: Socket, request: Request, serving: Serving): Promise<void> {
  const { plays, calls, busy, silences } = serving;
  busy.add(socket);
  const [, fault = '', cell = 'unnamed', times = '0'] =
    /\[\[fault (\S+) (\S+) (\d+)\]\]/.exec(request.body) ?? [];
  const count = (calls.get(cell) ?? 0) + 1;
  calls.set(cell, count);
  const play = (count <= Number(times) ? plays.get(fault) : playGood) ?? refuseUnknown(fault);
  const ending = await play(callOn(socket, request, { ...serving, cell }));
  if (ending !== 'hang') busy.delete(socket);
  else silences.begin(cell, socket);
}

type Request = FaultCall['request'];

/** null until the request is complete. */
function readRequest(bytes: Buffer): Request | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const end = headEnd + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  return bytes.length < end ? null : { head, body: bytes.toString('utf8', headEnd + 4, end) };
}

function callOn(
  socket: Socket,
  request: Request,
  { cell, clock, silences }: Serving & { readonly cell: string },
): FaultCall {
  const path = request.head.split(' ', 2)[1] ?? '';
  const task = taskSamples.find(({ hostPath }) => path.endsWith(hostPath));
  return {
    host: task ? taskHost : hostOf(path),
    stream: !task && asksForStream(path, request.body),
    ...(task && { task: task.json }),
    request,
    content: { text: answerText(cell), tokens: goodTokens },
    write: (bytes) => write(socket, bytes),
    close: () => socket.end(),
    reset: async () => {
      // A reset discards bytes in transit, so they must have arrived first.
      await flushEventLoop();
      socket.resetAndDestroy();
    },
    isGone: () => socket.destroyed,
    nowMs: () => clock.nowMs(),
    pause: async (milliseconds) => {
      if (socket.destroyed) return;
      silences.begin(cell, socket);
      await clock.sleep(milliseconds);
      silences.end(socket);
    },
  };
}

/** Whose errors hosts of tasks write. */
export const taskHost = modelHosts.find(({ name }) => name === 'chat')!;

function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  if (socket.destroyed || bytes.length === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      socket.off('close', settle);
      resolve();
    };
    socket.once('close', settle);
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, settle);
  });
}

function refuseUnknown(fault: string): PlayFault {
  return async ({ write: send }) =>
    send(
      httpAnswer(JSON.stringify({ error: { message: `no fault ${fault}` } }), {
        status: '404 Unknown',
      }),
    );
}

/** The format's good answer, whole or streamed. */
export const playGood: PlayFault = async (call) => call.write(goodAnswer(call));

export function goodAnswer(call: FaultCall): string {
  return call.stream ? chunkedAnswer(call, framesOf(call)) : httpAnswer(wholeText(call));
}

export function wholeText({
  host,
  content,
  task,
}: Pick<FaultCall, 'host' | 'content' | 'task'>): string {
  return JSON.stringify(task ?? wholeOf(host, content));
}

/** What the good answer says it is. */
export function typeOf({ host, stream }: Pick<FaultCall, 'host' | 'stream'>): string {
  return stream ? streamType(host.framing) : 'application/json';
}

/** Every frame of the good stream. */
export function framesOf({
  host,
  content,
}: Pick<FaultCall, 'host' | 'content'>): readonly SseFrame[] {
  const { start, deltas, end } = streamOf(host, content);
  return [...start, ...deltas, ...end];
}

/** The stream's start and first words. */
export function begunFramesOf({
  host,
  content,
}: Pick<FaultCall, 'host' | 'content'>): readonly SseFrame[] {
  const { start, deltas } = streamOf(host, content);
  return [...start, ...deltas.slice(0, 3)];
}

type HeadOptions = {
  readonly status?: string;
  readonly type?: string;
  readonly headers?: readonly string[];
};

/** A whole answer with `Content-Length`. */
export function httpAnswer(
  body: string,
  { status = '200 OK', type = 'application/json', headers = [] }: HeadOptions = {},
): string {
  const lines = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

type Framed = Pick<FaultCall, 'host'>;

/** A stream with one HTTP chunk per frame, as servers usually send it. */
export function chunkedAnswer(
  call: Framed,
  frames: readonly SseFrame[],
  options?: HeadOptions,
): string {
  return `${openChunkedAnswer(call, frames, options)}0\r\n\r\n`;
}

/** The same without the last chunk: the answer is unfinished. */
export function openChunkedAnswer(
  call: Framed,
  frames: readonly SseFrame[],
  { status = '200 OK', type = streamType(call.host.framing), headers = [] }: HeadOptions = {},
): string {
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${type}`,
    'Transfer-Encoding: chunked',
    ...headers,
  ];
  return `${head.join('\r\n')}\r\n\r\n${chunks(call, frames)}`;
}

export function chunks(call: Framed, frames: readonly SseFrame[]): string {
  return frames
    .map((frame) => bytesOf(call, [frame]))
    .map((bytes) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`)
    .join('');
}

/** The frames as the host writes them, a character for each byte. */
export function bytesOf({ host }: Framed, frames: readonly SseFrame[]): string {
  return encodeFrames(host.framing, frames).toString('latin1');
}
