// The stream to a client. Its head goes out with the first frames, so that a failure before them
// can still have its own status. Only a long silence sends the head earlier, with a keep-alive.
import { type PackedText, plainBytesMax, TextPacker } from '../../lib/packing.ts';
import type { ClientStream, Headers } from '../client.ts';
import { emptyComment, type KeptStream } from '../keep-alives.ts';
import { requestHeaders } from '../headers.ts';
import { elapsedMs } from '../request.ts';
import type { Called, Held } from '../stages.ts';
import { retentionHeaders } from '../charging/answer-storage.ts';
import { answerHeaders, routeHeaders } from './head.ts';

export class Output implements KeptStream {
  lastWriteMs: number;
  /**
   * The call that is under way, or whose answer the stream carries. Set before anything is written.
   */
  called!: Called;
  /** True when more than keep-alives was sent. */
  hasFrames = false;
  /** Milliseconds from the request's arrival to the first piece of an answer; null: none yet. */
  firstByteMs: number | null = null;
  /** Stops writing, whether the stream is complete or not. */
  readonly close: () => void;
  readonly #held: Held;
  #stream: ClientStream | null = null;
  /** True when a keep-alive has sent the head, before it was known which route serves. */
  #isEarly = false;
  /** Records what the client is sent, for repeats of the request; null: nothing is stored. */
  readonly #recording: TextPacker | null;

  constructor(held: Held) {
    this.#held = held;
    this.#recording = held.running.storage.isUsed ? new TextPacker(plainBytesMax) : null;
    this.lastWriteMs = held.gateway.keepAlives.nowMs();
    this.close = held.gateway.keepAlives.add(this);
  }

  get hasBegun(): boolean {
    return this.#stream !== null;
  }

  /** Called when the first piece of an answer has come. */
  noteFirstByte(): void {
    this.firstByteMs = elapsedMs(this.#held.gateway.clock, this.#held.caller);
    this.#held.caller.record.note({ firstByteMs: this.firstByteMs });
  }

  /** Returns all frames written so far and these, to be stored; null when they are not stored. */
  async recordedWith(lastFrames: string): Promise<PackedText | null> {
    this.#recording?.add(lastFrames);
    return (await this.#recording?.end()) ?? null;
  }

  /** Sends whole frames while the client is connected. Resolves when it has room for more. */
  write(frames: string): Promise<void> | void {
    this.hasFrames = true;
    this.#recording?.add(frames);
    if (this.#held.running.client.isGone()) return;
    this.#touch();
    return this.#open().write(frames);
  }

  /**
   * Called after a silence. A keep-alive carries nothing, so another route can still be tried after
   * it.
   */
  keepAlive(): void {
    const { running, asked } = this.#held;
    const { client } = running;
    if (client.isGone()) return;
    this.#touch();
    this.#isEarly ||= !this.#stream;
    const { keepAlive, openingKeepAlive = emptyComment } = asked.format;
    this.#open().keepAlive(this.hasFrames ? keepAlive : openingKeepAlive);
  }

  /** Sends the last frames. */
  end(frames: string, trailers: Headers): void {
    const stream = this.#open();
    // Another route than the first may have served, and have left out more.
    const late = this.#isEarly && { ...answerHeaders(this.called), ...routeHeaders(this.called) };
    const { gateway, running } = this.#held;
    const retention = retentionHeaders(gateway.headers, running.storage);
    stream.end(frames, { ...trailers, ...late, ...retention });
    this.close();
  }

  #touch(): void {
    this.lastWriteMs = this.#held.gateway.keepAlives.nowMs();
  }

  #open(): ClientStream {
    if (this.#stream) return this.#stream;
    const { gateway, running, names, terms, asked } = this.#held;
    const { client, storage } = running;
    this.#isEarly ||= client.hasHead?.() ?? false;
    const { cost, balance, reserved, route, attempts, ignored, emulated, idempotency } =
      gateway.headers;
    const late = this.#isEarly ? [route, attempts, ignored, emulated] : [];
    const retention = retentionHeaders(gateway.headers, storage);
    if (names.request) late.push(idempotency);
    const head = {
      ...requestHeaders(this.#held),
      ...answerHeaders(this.called),
      ...(!this.#isEarly && routeHeaders(this.called)),
      ...retention,
      [reserved]: String(terms.granted.amountMicros),
      ...(asked.format.streamType && { 'content-type': asked.format.streamType }),
    };
    this.#stream = client.startStream(head, [cost, balance, ...late]);
    return this.#stream;
  }
}
