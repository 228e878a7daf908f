// A connection whose bytes are looked at before Node's parser has them: a request that is known by all of its bytes need not be parsed.
// Node reads a connection's bytes past JavaScript until somebody listens to them, which costs a few microseconds a piece; so only the
// connections are watched on which such a request is to be expected.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Answers the request that these bytes are. false: it is not known. Nothing is read until a promise is kept. */
type AnswerBytes = (socket: Socket, bytes: Buffer) => boolean | Promise<boolean>;
type TakeBytes = (bytes: Buffer) => void;

export class KnownConnection {
  readonly #socket: Socket;
  readonly #answer: AnswerBytes;
  /** null: it is not watched yet. */
  #parse: TakeBytes | null = null;
  /** Whether the parser has read all of one request and nothing of another. */
  #isBetween = false;
  /** What the parser was given last, while no request was under way; null: something else. */
  #piece: Buffer | null = null;
  #last: ServerResponse;

  /** `last`: the newest answer on it. */
  constructor(socket: Socket, last: ServerResponse, answer: AnswerBytes) {
    this.#socket = socket;
    this.#last = last;
    this.#answer = answer;
  }

  /** Watches it from then on when that answer has been taken. Before, Node may have stopped reading, and would not begin again. */
  watchAfter(response: ServerResponse): void {
    if (!this.#parse) response.once('close', () => setImmediate(() => this.#watch()));
  }

  #watch(): void {
    const { destroyed, writableLength } = this.#socket;
    if (this.#parse || destroyed || writableLength > 0 || this.#socket.isPaused()) return;
    const [parse, ...others] = this.#socket.listeners('data') as TakeBytes[];
    if (!parse || others.length > 0) return;
    this.#parse = parse;
    this.#socket.on('data', (bytes: Buffer) => this.#take(bytes)).off('data', parse);
  }

  /** Told of each request that the parser has found, as soon as its head is there. */
  note(request: IncomingMessage, response: ServerResponse): void {
    this.#last = response;
    this.#isBetween = this.#piece !== null && isWholeRequest(this.#piece, request);
  }

  /** All bytes of the request that came last, once, or null. */
  takeBytes(): Buffer | null {
    const bytes = this.#isBetween ? this.#piece : null;
    this.forget();
    return bytes;
  }

  /** The bytes that came last are kept until then. */
  forget(): void {
    this.#piece = null;
  }

  /** An answer is closed in its turn: after the last one none is under way. A refusal may be, before its request's body has come. */
  get #isIdle(): boolean {
    return this.#last.closed && this.#last.req.complete;
  }

  #take(bytes: Buffer): void {
    // What a client does not take waits in memory: Node's own way bounds that.
    const { writable, writableLength } = this.#socket;
    const mayAnswer = this.#isBetween && this.#isIdle && writable && writableLength === 0;
    const answered = mayAnswer && this.#answer(this.#socket, bytes);
    if (answered === false) return this.#give(bytes);
    if (answered !== true) void this.#giveUnless(answered, bytes);
  }

  async #giveUnless(answering: Promise<boolean>, bytes: Buffer): Promise<void> {
    this.#socket.pause();
    const isAnswered = await answering;
    if (this.#socket.destroyed) return;
    // First, since Node may stop reading when it has parsed them.
    this.#socket.resume();
    if (!isAnswered) this.#give(bytes);
  }

  #give(bytes: Buffer): void {
    this.#isBetween = false;
    this.#piece = this.#isIdle ? bytes : null;
    this.#parse!(bytes);
  }
}

/** More than clients send, and less than Node reads. */
const headersMax = 100;

/**
 * Whether the bytes are those of that request and nothing else. They were given to a parser that might have had the beginning of a head
 * already: then there are more headers than lines here, or the first line is another.
 */
function isWholeRequest(bytes: Buffer, { method, url, httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  const headLength = bytes.indexOf('\r\n\r\n');
  if (headLength < 0 || headLength + 4 + Number(headers['content-length']) !== bytes.length) return false;
  const [first, ...lines] = bytes.toString('latin1', 0, headLength).split('\r\n');
  return first === `${method} ${url} HTTP/${httpVersion}` && lines.length <= headersMax && lines.length * 2 === rawHeaders.length;
}
