// A client of Responses over WebSocket, with the `ws` library.
//
//   const socket = await ResponsesSocket.open(gateway.url, { key });
//   const { response } = await socket.create({ model, input: 'Hi' });   // until its last event
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { WebSocket, type ClientOptions } from 'ws';

export type SocketFrame = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly status?: number;
  readonly error?: Readonly<Record<string, unknown>> & { readonly code: string };
  readonly response?: {
    readonly id: string;
    readonly status: string;
    readonly output: readonly (Readonly<Record<string, unknown>> & { readonly type: string })[];
    readonly usage: Readonly<Record<string, number>> & { readonly cost: number };
  };
};

type Options = ClientOptions & { readonly key?: string; readonly path?: string };

const lastTypes = new Set(['response.completed', 'response.incomplete', 'response.failed']);

export class ResponsesSocket {
  readonly raw: WebSocket;
  /** For bytes that are no whole frame; null before it is open. */
  tcp: Socket | null = null;
  /** Of the answer to the upgrade. */
  headers: IncomingMessage['headers'] = {};
  /** Every frame that came. */
  readonly frames: SocketFrame[] = [];
  readonly #closed: Promise<unknown[]>;
  #read = 0;
  #notify: () => void = () => {};

  constructor(url: string, { key, path = '/v1/responses', headers, ...options }: Options) {
    const own: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    this.raw = new WebSocket(url.replace('http', 'ws') + path, [], {
      ...options,
      headers: { ...own, ...headers },
    });
    this.raw.on('upgrade', ({ headers: answered, socket }) => {
      this.headers = answered;
      this.tcp = socket;
    });
    this.raw.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()) as SocketFrame);
      this.#notify();
    });
    this.raw.on('error', () => {});
    this.#closed = once(this.raw, 'close');
    void this.#closed.then(() => this.#notify());
  }

  static async open(url: string, options: Options = {}): Promise<ResponsesSocket> {
    const socket = new ResponsesSocket(url, options);
    await once(socket.raw, 'open');
    return socket;
  }

  /** The close code. */
  async closed(): Promise<number> {
    return (await this.#closed)[0] as number;
  }

  send(frame: object | string): void {
    this.raw.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The next frame that was not read yet. */
  async next(): Promise<SocketFrame> {
    while (this.frames.length === this.#read) {
      assert.ok(this.raw.readyState === WebSocket.OPEN, 'the connection is closed');
      await new Promise<void>((resolve) => (this.#notify = resolve));
    }
    return this.frames[this.#read++]!;
  }

  /** Runs a response to its last event, or to an error that comes instead of it. */
  async create(fields: object): Promise<SocketFrame> {
    this.send({ type: 'response.create', ...fields });
    return this.last();
  }

  async last(): Promise<SocketFrame> {
    for (;;) {
      const frame = await this.next();
      if (lastTypes.has(frame.type) || frame.status !== undefined) return frame;
    }
  }

  close(): Promise<number> {
    this.raw.close();
    return this.closed();
  }
}

type Refused = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly error: Readonly<Record<string, string>>;
};

/** Asks for an upgrade that is refused. */
export async function refusedUpgrade(url: string, options: Options = {}): Promise<Refused> {
  const { raw } = new ResponsesSocket(url, options);
  const [, answer] = (await once(raw, 'unexpected-response')) as [unknown, IncomingMessage];
  const { error } = JSON.parse(await text(answer)) as { error: Refused['error'] };
  return { status: answer.statusCode!, headers: answer.headers, error };
}
