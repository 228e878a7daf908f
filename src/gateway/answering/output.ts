// The stream to a client. Its head goes out with the first frames, so that a failure before them
// can still have its own status. Only a long silence sends the head earlier, with a keep-alive.
import type { ClientStream, Headers } from '../client.ts';
import { emptyComment, type KeptStream } from '../keep-alives.ts';
import { requestHeaders } from '../headers.ts';
import { elapsedMs, type Called, type Held } from '../stages.ts';
import { answerHeaders, headHeaders, routeHeaders } from './head.ts';

export class Output implements KeptStream {
  lastWriteMs: number;
  /** Milliseconds from the request's arrival to the first piece of an answer; null: none yet. */
  firstByteMs: number | null = null;
  /** Stops writing, whether the stream is complete or not. */
  readonly close: () => void;
  readonly #held: Held;
  /** The call that is under way, or whose answer the stream carries. */
  #called: Called | null = null;
  #stream: ClientStream | null = null;
  #hasFrames = false;
  /** True when a keep-alive has sent the head, before it was known which route serves. */
  #isEarly = false;
  readonly #recording: Recording | null;

  constructor(held: Held) {
    this.#held = held;
    const { bodyBytesMax } = held.storage;
    this.#recording = bodyBytesMax === null ? null : new Recording(bodyBytesMax);
    this.lastWriteMs = held.gateway.keepAlives.nowMs();
    this.close = held.gateway.keepAlives.add(this);
  }

  get hasBegun(): boolean {
    return this.#stream !== null;
  }

  /** True when more than keep-alives was sent. */
  get hasFrames(): boolean {
    return this.#hasFrames;
  }

  /** Called when a call begins: from then on the headers describe it. */
  serve(called: Called): void {
    this.#called = called;
  }

  /** Called when the first piece of an answer has come. */
  noteFirstByte(): void {
    this.firstByteMs = elapsedMs(this.#held);
    this.#held.log.note({ firstByteMs: this.firstByteMs });
  }

  /** Returns all frames written so far and these, to be stored; null when they are not stored. */
  recordedWith(lastFrames: string): string | null {
    this.#recording?.add(lastFrames);
    return this.#recording?.text ?? null;
  }

  /** Sends whole frames while the client is connected. Resolves when it has room for more. */
  write(frames: string): Promise<void> | void {
    this.#hasFrames = true;
    this.#recording?.add(frames);
    if (this.#held.client.isGone()) return;
    this.#touch();
    return this.#open().write(frames);
  }

  /**
   * Called after a silence. A keep-alive carries nothing, so another route can still be tried after
   * it.
   */
  keepAlive(): void {
    const { client, format } = this.#held;
    if (client.isGone()) return;
    this.#touch();
    this.#isEarly ||= !this.#stream;
    this.#open().keepAlive(this.#hasFrames ? format.keepAlive : emptyComment);
  }

  /** Sends the last frames. */
  end(frames: string, trailers: Headers): void {
    const stream = this.#open();
    // Another route than the first may have served, and have left out more.
    const late = this.#isEarly && {
      ...answerHeaders(this.#serving),
      ...routeHeaders(this.#serving),
    };
    stream.end(frames, { ...trailers, ...late });
    this.close();
  }

  /** The first call begins before anything can be written. */
  get #serving(): Called {
    if (!this.#called) throw new Error('a stream was opened before any call');
    return this.#called;
  }

  #touch(): void {
    this.lastWriteMs = this.#held.gateway.keepAlives.nowMs();
  }

  #open(): ClientStream {
    if (this.#stream) return this.#stream;
    const { gateway, client, granted } = this.#held;
    this.#isEarly ||= client.hasHead?.() ?? false;
    const { cost, balance, reserved, route, attempts, ignored, emulated } = gateway.headers;
    const late = this.#isEarly ? [route, attempts, ignored, emulated] : [];
    const head = this.#isEarly
      ? { ...requestHeaders(this.#held), ...answerHeaders(this.#serving) }
      : headHeaders(this.#serving);
    this.#stream = client.startStream({ ...head, [reserved]: String(granted.amountMicros) }, [
      cost,
      balance,
      ...late,
    ]);
    return this.#stream;
  }
}

/**
 * Records what a stream's client is sent, for repeats of the request. Gives up when it grows too
 * long.
 */
class Recording {
  readonly #bytesMax: number;
  #pieces: string[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes <= this.#bytesMax) this.#pieces.push(text);
    else this.#pieces = [];
  }

  /** The recorded text; null when it grew too long. */
  get text(): string | null {
    return this.#bytes <= this.#bytesMax ? this.#pieces.join('') : null;
  }
}
