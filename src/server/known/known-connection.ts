// A connection whose bytes are looked at before Node's parser has them: a request that is known by all of its bytes need not be parsed.
// Node reads a connection's bytes past JavaScript until somebody listens to them, which costs a few microseconds a piece; so only the
// connections are watched on which such a request is to be expected.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Answers the request that these bytes are. false: it is not known. */
type AnswerBytes = (socket: Socket, bytes: Buffer) => boolean | Promise<boolean>;
type TakeBytes = (bytes: Buffer) => void;

export class KnownConnection {
  readonly #socket: Socket;
  readonly #parse: TakeBytes;
  readonly #answer: AnswerBytes;
  /** Whether the parser has read all of one request and nothing of another. */
  #isBetween = false;
  /** What the parser was given last, while no request was under way; null: something else. */
  #piece: Buffer | null = null;
  #last: ServerResponse;

  /** null: somebody else listens to its bytes, or nobody does. `last`: the newest answer on it. */
  static watch(socket: Socket, last: ServerResponse, answer: AnswerBytes): KnownConnection | null {
    const [parse, ...others] = socket.listeners('data') as TakeBytes[];
    return parse && others.length === 0 ? new KnownConnection({ socket, parse, last, answer }) : null;
  }

  private constructor({
    socket,
    parse,
    last,
    answer,
  }: {
    socket: Socket;
    parse: TakeBytes;
    last: ServerResponse;
    answer: AnswerBytes;
  }) {
    this.#socket = socket;
    this.#parse = parse;
    this.#last = last;
    this.#answer = answer;
    socket.on('data', (bytes: Buffer) => this.#take(bytes)).off('data', parse);
  }

  /** Told of each request that the parser has found, as soon as its head is there. */
  note(request: IncomingMessage, response: ServerResponse): void {
    this.#last = response;
    this.#isBetween = this.#piece !== null && isWholeRequest(this.#piece, request);
  }

  /** All bytes of the request that came last, once, or null. Whoever does not need them takes them all the same: they are kept until then. */
  takeBytes(): Buffer | null {
    const bytes = this.#isBetween ? this.#piece : null;
    this.#piece = null;
    return bytes;
  }

  /** An answer is closed in its turn: after the last one none is under way. */
  get #isIdle(): boolean {
    return this.#last.closed;
  }

  #take(bytes: Buffer): void {
    // What a client does not take waits in memory: Node's own way bounds that.
    const answered = this.#isBetween && this.#isIdle && this.#socket.writableLength === 0 && this.#answer(this.#socket, bytes);
    if (answered === false) return this.#give(bytes);
    if (answered !== true) void this.#giveUnless(answered, bytes);
  }

  async #giveUnless(answering: Promise<boolean>, bytes: Buffer): Promise<void> {
    this.#socket.pause();
    const isAnswered = await answering;
    if (this.#socket.destroyed) return;
    if (!isAnswered) this.#give(bytes);
    this.#socket.resume();
  }

  #give(bytes: Buffer): void {
    this.#isBetween = false;
    this.#piece = this.#isIdle ? bytes : null;
    this.#parse(bytes);
  }
}

/**
 * Whether the bytes are those of that request and nothing else. They were given to a parser that might have had the beginning of a head
 * already: then there are more headers than lines here, or the first line is another.
 */
function isWholeRequest(bytes: Buffer, { method, url, httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  const headLength = bytes.indexOf('\r\n\r\n');
  if (headLength < 0 || headLength + 4 + Number(headers['content-length']) !== bytes.length) return false;
  const [first, ...lines] = bytes.toString('latin1', 0, headLength).split('\r\n');
  return first === `${method} ${url} HTTP/${httpVersion}` && lines.length * 2 === rawHeaders.length;
}
