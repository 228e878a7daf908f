// An upstream that breaks HTTP itself, on raw sockets: what node:http would never send (half a head, a false length, a broken chunk) is a
// few bytes here. It speaks the paths of all four wire formats, and each request says in its own text what it is to be played, so that any
// number of them run at once:
//
//   const server = await startFaultServer(faults);        // tests/support/faults.ts
//   … 'Hello [[fault reset-mid-body cell-17 1]]' …        // that fault for the first request of cell-17, and a good answer from then on
//   server.callsOf('cell-17');                            // how many requests came
//   server.busySockets;                                   // those on which an answer is under way: 0 once all is over, or the gateway leaks
//
// On a test's clock, the clock moves whenever all requests under way wait for an upstream that is silent: `asked` and `answered` tell it
// what is under way.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { streamFrames, wholeAnswer, type Content, type UpstreamWireName } from './answers.ts';
import { takeTurns, TestClock } from './test-clock.ts';
import { framesText, type SseFrame } from './upstream.ts';

/** What a fault is played with: one request, the socket it came on, and the good answer to it. */
export type FaultCall = {
  readonly wire: UpstreamWireName;
  readonly stream: boolean;
  /** The request as it came, for providers that quote it. */
  readonly request: { readonly head: string; readonly body: string };
  readonly content: Content;
  /** Resolves when the kernel has taken the bytes, or the gateway has gone. */
  readonly write: (bytes: string | Uint8Array) => Promise<void>;
  /** Closes politely. */
  readonly close: () => void;
  /** Closes with a reset, after what was written has arrived. */
  readonly reset: () => Promise<void>;
  readonly isGone: () => boolean;
  readonly nowMs: () => number;
  /** Stays silent for so long. */
  readonly pause: (milliseconds: number) => Promise<void>;
};

/** Ends when the answer is out. A socket that it leaves open takes the next request, unless `hang` says that it never ends. */
export type PlayFault = (call: FaultCall) => Promise<'hang' | void>;

export type FaultServer = {
  readonly url: string;
  readonly port: number;
  readonly callsOf: (cell: string) => number;
  readonly busySockets: number;
  /** A request of this cell is sent. */
  readonly asked: (cell: string) => void;
  /** Its answer has come. */
  readonly answered: (cell: string) => void;
  readonly close: () => Promise<void>;
};

/** The instruction for the server, to be put into a prompt. */
export function faultMark(fault: string, cell: string, times = 1): string {
  return `[[fault ${fault} ${cell} ${times}]]`;
}

/** No other text holds these, and URLs and JSON escape some of their characters: where they are found, what was told in confidence is. */
export const canaryCores = { prompt: 'pr0mpt/c4nary+"of~', answer: 'answ3r/c4nary+"of~' };
export const promptCanary = (cell: string) => `${canaryCores.prompt}${cell}~`;
const answerCanary = (cell: string) => `${canaryCores.answer}${cell}~`;

/** What a good answer says, so that an answer that went to the wrong request is seen. */
export function answerText(cell: string): string {
  return `The answer to ${cell} is here: ${answerCanary(cell)}.`;
}

export const goodTokens = { input: 11, output: 7 };

export async function startFaultServer(plays: ReadonlyMap<string, PlayFault>, clock: Clock = systemClock): Promise<FaultServer> {
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

/** Moves a test's clock while every request under way waits for a silent upstream, so that no answer on its way is overtaken by time. */
class Silences {
  readonly #clock: TestClock | null;
  readonly #asked = new Set<string>();
  /** The connection on which the cell's upstream is silent. */
  readonly #silent = new Map<string, Socket>();
  #isMoving = false;

  constructor(clock: Clock) {
    this.#clock = clock instanceof TestClock ? clock : null;
  }

  asked(cell: string): void {
    this.#asked.add(cell);
    this.#silent.delete(cell);
  }

  answered(cell: string): void {
    this.#asked.delete(cell);
    void this.#move();
  }

  /** Until `end`, which is also when the gateway gives up: it writes its books then, which takes real time, and the clock must not move. */
  begin(cell: string, socket: Socket): void {
    if (socket.destroyed) return;
    this.#silent.set(cell, socket);
    void this.#move();
  }

  end(socket: Socket): void {
    for (const [cell, silent] of this.#silent) if (silent === socket) this.#silent.delete(cell);
  }

  async #move(): Promise<void> {
    if (!this.#clock || this.#isMoving) return;
    this.#isMoving = true;
    // The gateway looks at its timeouts as often.
    while (this.#asked.size > 0 && this.#asked.isSubsetOf(this.#silent)) await this.#clock.advance(1_000);
    this.#isMoving = false;
  }
}

/** One request at a time, as the gateway sends them. It reads on while an answer is under way, or it would not see the gateway leave. */
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
  const [, fault = '', cell = 'unnamed', times = '0'] = /\[\[fault (\S+) (\S+) (\d+)\]\]/.exec(request.body) ?? [];
  const count = (calls.get(cell) ?? 0) + 1;
  calls.set(cell, count);
  const play = (count <= Number(times) ? plays.get(fault) : playGood) ?? refuseUnknown(fault);
  const ending = await play(callOn(socket, request, { ...serving, cell }));
  if (ending !== 'hang') busy.delete(socket);
  else silences.begin(cell, socket);
}

type Request = FaultCall['request'];

/** null while it has not come whole. */
function readRequest(bytes: Buffer): Request | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const end = headEnd + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  return bytes.length < end ? null : { head, body: bytes.toString('utf8', headEnd + 4, end) };
}

function callOn(socket: Socket, request: Request, { cell, clock, silences }: Serving & { readonly cell: string }): FaultCall {
  const path = request.head.split(' ', 2)[1] ?? '';
  const wire = wireOf(path);
  return {
    wire,
    stream: wire === 'gemini' ? path.includes(':streamGenerateContent') : /"stream":true/.test(request.body),
    request,
    content: { text: answerText(cell), tokens: goodTokens },
    write: (bytes) => write(socket, bytes),
    close: () => socket.end(),
    reset: async () => {
      // The bytes must have arrived before the reset throws away what is still on its way.
      await takeTurns();
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

function wireOf(path: string): UpstreamWireName {
  if (path.includes('/chat/completions')) return 'chat';
  if (path.includes('/responses')) return 'responses';
  return path.includes('/messages') ? 'messages' : 'gemini';
}

function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  if (socket.destroyed || bytes.length === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      socket.off('close', settle);
      resolve();
    };
    socket.once('close', settle);
    socket.write(bytes, settle);
  });
}

function refuseUnknown(fault: string): PlayFault {
  return async ({ write: send }) =>
    send(httpAnswer(JSON.stringify({ error: { message: `no fault ${fault}` } }), { status: '404 Unknown' }));
}

/** The good answer of the format, whole or as a stream. */
export const playGood: PlayFault = async (call) => call.write(goodAnswer(call));

export function goodAnswer(call: FaultCall): string {
  return call.stream ? chunkedAnswer(framesOf(call)) : httpAnswer(wholeText(call));
}

export function wholeText({ wire, content }: Pick<FaultCall, 'wire' | 'content'>): string {
  return JSON.stringify(wholeAnswer(wire, content));
}

/** All frames of the good stream. */
export function framesOf({ wire, content }: Pick<FaultCall, 'wire' | 'content'>): readonly SseFrame[] {
  const { start, deltas, end } = streamFrames(wire, content);
  return [...start, ...deltas, ...end];
}

/** Its start and its first words. */
export function begunFramesOf({ wire, content }: Pick<FaultCall, 'wire' | 'content'>): readonly SseFrame[] {
  const { start, deltas } = streamFrames(wire, content);
  return [...start, ...deltas.slice(0, 3)];
}

type HeadOptions = {
  readonly status?: string;
  readonly type?: string;
  readonly headers?: readonly string[];
};

/** A whole answer with its length. */
export function httpAnswer(
  body: string,
  { status = '200 OK', type = 'application/json', headers = [] }: HeadOptions = {},
): string {
  const lines = [`HTTP/1.1 ${status}`, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** A stream in chunks, one a frame, as servers send it. */
export function chunkedAnswer(frames: readonly SseFrame[], options?: HeadOptions): string {
  return `${chunkedHead(options)}${chunks(frames)}0\r\n\r\n`;
}

/** The same without its last chunk: the answer goes on. */
export function openChunkedAnswer(frames: readonly SseFrame[], options?: HeadOptions): string {
  return chunkedHead(options) + chunks(frames);
}

function chunkedHead({ status = '200 OK', type = 'text/event-stream', headers = [] }: HeadOptions = {}): string {
  return `${[`HTTP/1.1 ${status}`, `Content-Type: ${type}`, 'Transfer-Encoding: chunked', ...headers].join('\r\n')}\r\n\r\n`;
}

export function chunks(frames: readonly SseFrame[]): string {
  return frames
    .map((frame) => framesText([frame]))
    .map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
    .join('');
}
