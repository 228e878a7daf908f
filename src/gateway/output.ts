// The stream that a client is sent. Its head goes out with the first frames, so that what fails before them is still an error with its own
// status; only a long silence sends it earlier, with a keep-alive.
import type { ClientStream, Headers } from './client.ts';
import type { KeptStream } from './keep-alives.ts';
import { Recording } from './recording.ts';
import { answerHeaders, requestHeaders, routeHeaders, type Running } from './running.ts';

/** Says nothing, in every format: some clients take no event but its first one for the start of a stream. */
export const emptyComment = ': keep-alive\n\n';

export class Output implements KeptStream {
  lastWriteMs: number;
  readonly #running: Running;
  #stream: ClientStream | null = null;
  #hasFrames = false;
  /** Whether a keep-alive has sent the head, before it was known who serves. */
  #isEarly = false;
  readonly #recording: Recording | null;

  constructor(running: Running) {
    this.#running = running;
    const { bodyBytesMax } = running.keeping;
    this.#recording = bodyBytesMax === null ? null : new Recording(bodyBytesMax);
    this.lastWriteMs = running.gateway.keepAlives.nowMs();
    running.gateway.keepAlives.add(this);
  }

  get hasBegun(): boolean {
    return this.#stream !== null;
  }

  /** Whether more than keep-alives were sent. */
  get hasFrames(): boolean {
    return this.#hasFrames;
  }

  /** All frames that were written, and these, for a retry; null: they are not kept. */
  recordedWith(lastFrames: string): string | null {
    this.#recording?.add(lastFrames);
    return this.#recording?.text ?? null;
  }

  /** Sends whole frames at once, while the client is there. Resolves when it has room for more. */
  write(frames: string): Promise<void> | void {
    this.#hasFrames = true;
    this.#recording?.add(frames);
    if (this.#running.client.isGone()) return;
    this.#touch();
    return this.#open().write(frames);
  }

  /** Called in silence. It carries nothing, so another route could still be tried after it. */
  keepAlive(): void {
    const { client, format } = this.#running;
    if (client.isGone()) return;
    this.#touch();
    this.#isEarly ||= !this.#stream;
    this.#open().keepAlive(this.#hasFrames ? format.keepAlive : emptyComment);
  }

  /** Sends the last frames. */
  end(frames: string, trailers: Headers): void {
    const stream = this.#open();
    stream.end(frames, this.#isEarly ? { ...trailers, ...this.#lateHeaders() } : trailers);
    this.close();
  }

  /** Nothing is written any more, whether the stream has come to its end or not. */
  close(): void {
    this.#running.gateway.keepAlives.remove(this);
  }

  #touch(): void {
    this.lastWriteMs = this.#running.gateway.keepAlives.nowMs();
  }

  #open(): ClientStream {
    if (this.#stream) return this.#stream;
    const { gateway, client, hold } = this.#running;
    this.#isEarly ||= client.hasHead?.() ?? false;
    const { cost, balance, reserved, route, attempts, ignored } = gateway.headers;
    const head = { ...requestHeaders(this.#running), ...answerHeaders(this.#running) };
    const served = this.#isEarly ? {} : routeHeaders(this.#running);
    const late = this.#isEarly ? [route, attempts, ignored] : [];
    this.#stream = client.startStream({ ...head, ...served, [reserved]: String(hold.amountMicros) }, [cost, balance, ...late]);
    return this.#stream;
  }

  /** Another route than the first may have served, and have left out more. */
  #lateHeaders(): Headers {
    return { ...answerHeaders(this.#running), ...routeHeaders(this.#running) };
  }
}
