// A client whose request may wait for another, under the same Idempotency-Key or for the same answer. One that asked for a stream is sent keep-alives, which open its
// stream before anybody knows whose answer it will carry; that answer then goes on in it.
import type { Client, ClientStream, Headers } from './client.ts';
import type { KeptStream } from './keep-alives.ts';
import { emptyComment } from './output.ts';
import type { Admitted } from './admitted.ts';

type WaitingOptions = {
  readonly nowMs: () => number;
  /** What can be said before anything is known of the answer. */
  readonly headers: Headers;
  /** What is said at its end, being unknown before. */
  readonly trailerNames: readonly string[];
};

export class WaitingClient implements Client, KeptStream {
  lastWriteMs: number;
  readonly #client: Client;
  readonly #options: WaitingOptions;
  #stream: ClientStream | null = null;

  constructor(client: Client, options: WaitingOptions) {
    this.#client = client;
    this.#options = options;
    this.lastWriteMs = options.nowMs();
  }

  /** The stream that keep-alives have opened; null: none has yet. */
  get openStream(): ClientStream | null {
    return this.#stream;
  }

  /** Waits for what `ask` gives, which the signal ends. A wait counts as a run: a shutdown lets it come to its end while there is time. */
  async waitFor<T>({ gateway, work }: Admitted, ask: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const controller = gateway.runs.open();
    this.onGone(() => controller.abort());
    if (work.stream) gateway.keepAlives.add(this);
    try {
      return await ask(controller.signal);
    } finally {
      gateway.keepAlives.remove(this);
      gateway.runs.close(controller);
    }
  }

  keepAlive(): void {
    if (this.#client.isGone()) return;
    this.lastWriteMs = this.#options.nowMs();
    this.#stream ??= this.#client.startStream(this.#options.headers, this.#options.trailerNames);
    this.#stream.keepAlive(emptyComment);
  }

  isGone(): boolean {
    return this.#client.isGone();
  }

  hasHead(): boolean {
    return this.#stream !== null;
  }

  onGone(callback: () => void): void {
    this.#client.onGone(callback);
  }

  sendAnswer(body: string, headers: Headers): void {
    this.#client.sendAnswer(body, headers);
  }

  /** Headers come too late for a stream that was opened; what matters of them is said in its trailers. */
  startStream(headers: Headers, trailerNames: readonly string[]): ClientStream {
    return this.#stream ?? this.#client.startStream(headers, trailerNames);
  }
}
