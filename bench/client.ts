// An HTTP client that repeats one request on a bare socket and only looks for the end of each
// answer. A real client would cost more than the measured relay, and clients share their core with
// the upstream.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Request } from './workloads.ts';

export type Target = { readonly port: number; readonly request: Request; readonly key: string };

export async function connectClient(target: Target): Promise<Client> {
  const socket = connect(target.port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  return new Client(socket, requestBytes(target));
}

export class Client {
  readonly #socket: Socket;
  readonly #request: Buffer;
  #answer = new AnswerEnd();
  #pending: PromiseWithResolvers<void> | null = null;

  constructor(socket: Socket, request: Buffer) {
    this.#socket = socket;
    this.#request = request;
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('error', (error) => this.#pending?.reject(error));
    socket.on('close', () => this.#pending?.reject(new Error('the connection was closed')));
  }

  /**
   * Resolves at the end of the answer with the time of the body's first byte. Throws when the
   * status is not 200.
   */
  async send(): Promise<number> {
    this.#answer = new AnswerEnd();
    this.#pending = Promise.withResolvers<void>();
    this.#socket.write(this.#request);
    await this.#pending.promise;
    return this.#answer.bodyAtMs;
  }

  /** Sends the request. Resolves when the answer begins. */
  async open(): Promise<void> {
    this.#socket.write(this.#request);
    await once(this.#socket, 'data');
  }

  close(): void {
    this.#pending = null;
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    try {
      if (this.#answer.push(bytes)) this.#pending?.resolve();
    } catch (error) {
      this.#pending?.reject(error);
    }
  }
}

const emptyLine = '\r\n\r\n';

/**
 * Finds the end of an answer: by its length, or by the empty line after the last chunk, because no
 * body here contains a carriage return.
 */
class AnswerEnd {
  bodyAtMs = 0;
  #head = '';
  /** Bytes of the body still to come; null for a chunked body. */
  #left: number | null = null;
  #tail = '';

  /** Returns true when these bytes complete the answer. */
  push(bytes: Buffer): boolean {
    const body = this.bodyAtMs === 0 ? this.#readHead(bytes) : bytes;
    if (body.length === 0) return false;
    if (this.#left !== null) return (this.#left -= body.length) <= 0;
    this.#tail = (
      this.#tail + body.toString('latin1', Math.max(0, body.length - emptyLine.length))
    ).slice(-emptyLine.length);
    return this.#tail === emptyLine;
  }

  /** Returns the bytes after the head. */
  #readHead(bytes: Buffer): Buffer {
    const headBefore = this.#head.length;
    this.#head += bytes.toString('latin1');
    const end = this.#head.indexOf(emptyLine);
    const bodyStart = end + emptyLine.length;
    if (end === -1 || bodyStart === this.#head.length) return bytes.subarray(bytes.length);
    if (!this.#head.startsWith('HTTP/1.1 200 '))
      throw new Error(`a contestant answered: ${this.#head.slice(0, 2_000)}`);
    this.bodyAtMs = performance.now();
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#head.slice(0, end))?.[1];
    if (length !== undefined) this.#left = Number(length);
    return bytes.subarray(bodyStart - headBefore);
  }
}

export function requestBytes({ port, request: { path, body, headers = {} }, key }: Target): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `authorization: Bearer ${key}`,
    'user-agent: bench',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(lines.join('\r\n') + emptyLine + body);
}
