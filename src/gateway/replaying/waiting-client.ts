// A client whose request may wait for another with the same Idempotency-Key or body. A streaming
// client gets keep-alives, which open its stream before it is known which answer it will carry;
// that answer continues in it.
import type { Client, ClientStream, Headers } from '../client.ts';
import { requestHeaders } from '../headers.ts';
import { emptyComment, type KeptStream } from '../keep-alives.ts';
import type { Accepted } from '../stages.ts';

export class WaitingClient implements Client, KeptStream {
  lastWriteMs: number;
  /** The stream that a keep-alive has opened; null: none yet. */
  openStream: ClientStream | null = null;
  readonly #client: Client;
  readonly #asked: Accepted;

  constructor(client: Client, asked: Accepted) {
    this.#client = client;
    this.#asked = asked;
    this.lastWriteMs = asked.gateway.clock.elapsedMs();
  }

  /**
   * Waits for the result of `ask`; the signal ends the wait. A wait counts as a run, so a shutdown
   * lets it finish while there is time.
   */
  async waitFor<T>(ask: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const { gateway, sale } = this.#asked;
    const run = gateway.runs.open();
    this.onGone(() => run.stop());
    const endKeepAlives = sale.stream ? gateway.keepAlives.add(this) : null;
    try {
      return await ask(run.waiting);
    } finally {
      endKeepAlives?.();
      run.close();
    }
  }

  keepAlive(): void {
    if (this.#client.isGone()) return;
    const { gateway, sale } = this.#asked;
    const { clock, headers } = gateway;
    const { keepAlive, headers: own } = sale.opening ?? { keepAlive: emptyComment, headers: {} };
    this.lastWriteMs = clock.elapsedMs();
    const { cost, balance, cache, route, attempts, ignored, emulated, outputLimit } = headers;
    const names = [cost, balance, cache, route, attempts, ignored, emulated, outputLimit];
    this.openStream ??= this.#client.startStream({ ...requestHeaders(this.#asked), ...own }, names);
    this.openStream.keepAlive(keepAlive);
  }

  isGone(): boolean {
    return this.#client.isGone();
  }

  hasHead(): boolean {
    return this.openStream !== null;
  }

  onGone(callback: () => void): void {
    this.#client.onGone(callback);
  }

  sendAnswer(body: string | Buffer, headers: Headers): void {
    this.#client.sendAnswer(body, headers);
  }

  /** An opened stream cannot get more headers; the important ones are sent as trailers. */
  startStream(headers: Headers, trailerNames: readonly string[]): ClientStream {
    return this.openStream ?? this.#client.startStream(headers, trailerNames);
  }
}
