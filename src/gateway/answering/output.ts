// The stream to a client: of a model's answer, or of units as bytes or events. Its head goes out with the
// first piece, so that a failure before it can still have its own status. Only a long silence sends the
// head earlier, with a keep-alive.
import type { ApiError } from '../../canonical/errors.ts';
import type { ClientFormat } from '../../formats/format.ts';
import type { Micros } from '../../lib/money.ts';
import { type PackedText, plainBytesMax, TextPacker } from '../../lib/packing.ts';
import type { ClientStream, Headers } from '../client.ts';
import { emptyComment, type KeptStream } from '../keep-alives.ts';
import { requestHeaders } from '../headers.ts';
import { elapsedMs } from '../request.ts';
import type { HeldRequest } from '../stages.ts';
import { retentionHeaders } from '../charging/answer-storage.ts';

export const eventsType = 'text/event-stream; charset=utf-8';

/**
 * Providers drop readers that are this slow. In total, because a reader of small sips never waits
 * long at a time.
 */
const slowReadMs = 10_000;

/** The headers of a stream beside those of its request. */
export type StreamHead = {
  readonly contentType: string;
  /** Headers about the answer. They are stored with it. */
  readonly answer: Headers;
  /** Headers that name the route and count the calls. */
  readonly route: Headers;
};

export class Output implements KeptStream {
  lastWriteMs: number;
  /** The headers of the current call's answer. Set before anything is written. */
  head!: StreamHead;
  /** True when more than keep-alives was sent. */
  hasFrames = false;
  /** Milliseconds from the request's arrival to the first piece of an answer; null: none yet. */
  firstByteMs: number | null = null;
  /** Stops writing, whether the stream is complete or not. */
  readonly close: () => void;
  readonly #held: HeldRequest;
  readonly #format: Pick<ClientFormat, 'keepAlive' | 'openingKeepAlive'> | null;
  /** The first hold. */
  readonly #reservedMicros: Micros;
  #stream: ClientStream | null = null;
  /** True when a keep-alive has sent the head, before it was known which route serves. */
  #isEarly = false;
  /** How long the client let us wait before it read on, in total. */
  #clientWaitMs = 0;
  /** Records what the client is sent, for repeats of the request; null: nothing is stored. */
  readonly #recording: TextPacker | null;

  /** `format`: has the keep-alives; null: none are sent. */
  constructor(
    held: HeldRequest,
    format: Pick<ClientFormat, 'keepAlive' | 'openingKeepAlive'> | null,
  ) {
    const { keepAlives, clock } = held.gateway;
    const { hold, storage } = held.running;
    this.#held = held;
    this.#format = format;
    this.#reservedMicros = hold.amountMicros;
    this.#recording = storage.isUsed ? new TextPacker(plainBytesMax) : null;
    this.lastWriteMs = clock.elapsedMs();
    this.close = format ? keepAlives.add(this) : () => {};
  }

  get hasBegun(): boolean {
    return this.#stream !== null;
  }

  /** True when the client reads so slowly that no provider would wait for it. */
  get isReadSlowly(): boolean {
    return this.#clientWaitMs >= slowReadMs;
  }

  /** Called when the first piece of an answer has come. */
  noteFirstByte(): void {
    this.firstByteMs = elapsedMs(this.#held.gateway.clock, this.#held.caller);
    this.#held.caller.record.note({ firstByteMs: this.firstByteMs });
  }

  /** Returns all that was written so far and this, to be stored; null when it is not stored. */
  async recordedWith(lastFrames: string): Promise<PackedText | null> {
    this.#recording?.add(lastFrames);
    return (await this.#recording?.end()) ?? null;
  }

  /** Sends whole frames while the client is connected. Resolves when it has room for more. */
  write(frames: string | Buffer): Promise<void> | void {
    this.hasFrames = true;
    this.#recording?.add(frames);
    if (this.#held.running.client.isGone()) return;
    this.#touch();
    const written = this.#open().write(frames);
    return written && this.#timed(written);
  }

  /**
   * Called after a silence. A keep-alive carries nothing, so another route can still be tried after
   * it.
   */
  keepAlive(): void {
    if (this.#held.running.client.isGone()) return;
    this.#touch();
    this.#isEarly ||= !this.#stream;
    const { keepAlive, openingKeepAlive = emptyComment } = this.#format!;
    this.#open().keepAlive(this.hasFrames ? keepAlive : openingKeepAlive);
  }

  /** Sends the last frames. null: cuts the stream, because the answer is not complete. */
  end(frames: string | null, trailers: Headers): void {
    if (this.#held.running.client.isGone()) return this.close();
    const stream = this.#open();
    if (frames === null) return stream.cut();
    // Another route than the first may have served, and have left out more.
    const late = this.#isEarly && { ...this.head.answer, ...this.head.route };
    const { gateway, running } = this.#held;
    const retention = retentionHeaders(gateway.headers, running.storage);
    stream.end(frames, { ...trailers, ...late, ...retention });
    this.close();
  }

  /** Ends a stream that has begun with an error. `frames`: as in `end`. */
  fail(error: ApiError, frames: string | null): void {
    this.#held.caller.record.noteError(error);
    this.end(frames, {});
  }

  async #timed(written: Promise<void>): Promise<void> {
    const { clock } = this.#held.gateway;
    const startedAtMs = clock.elapsedMs();
    await written;
    this.#clientWaitMs += clock.elapsedMs() - startedAtMs;
  }

  #touch(): void {
    this.lastWriteMs = this.#held.gateway.clock.elapsedMs();
  }

  #open(): ClientStream {
    if (this.#stream) return this.#stream;
    const { gateway, running, names } = this.#held;
    const { client, storage } = running;
    this.#isEarly ||= client.hasHead?.() ?? false;
    const { cost, balance, reserved, route, attempts, ignored, emulated, idempotency } =
      gateway.headers;
    const late = this.#isEarly ? [route, attempts, ignored, emulated] : [];
    if (names.request) late.push(idempotency);
    const head = {
      ...requestHeaders(this.#held),
      ...this.head.answer,
      ...(!this.#isEarly && this.head.route),
      ...retentionHeaders(gateway.headers, storage),
      [reserved]: String(this.#reservedMicros),
      'content-type': this.head.contentType,
    };
    this.#stream = client.startStream(head, [cost, balance, ...late]);
    return this.#stream;
  }
}
