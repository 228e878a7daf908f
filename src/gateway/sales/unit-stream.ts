// An answer of units on its way to a client, as bytes or as events. The head goes out with the first
// piece, so that a failure before it can still have its own status.
import type { ApiError } from '../../canonical/errors.ts';
import { clientFormats } from '../../formats/registry.ts';
import { usdFromMicros } from '../../lib/money.ts';
import { plainBytesMax } from '../../lib/packing.ts';
import { formatSse } from '../../lib/sse.ts';
import { chargeHeaders, errorContextOf } from '../answering/head.ts';
import type { Running } from '../charging/offer.ts';
import type { Charge } from '../charging/open-hold.ts';
import type { ClientStream, Headers } from '../client.ts';
import { requestHeaders } from '../headers.ts';
import { retentionHeaders } from '../charging/answer-storage.ts';
import { elapsedMs } from '../request.ts';
import type { Accepted } from '../stages.ts';

type Streaming = {
  readonly accepted: Accepted;
  readonly held: Running;
  readonly isEvents: boolean;
};

export const eventsType = 'text/event-stream; charset=utf-8';

export class UnitStream {
  contentType = '';
  /** Milliseconds from the request's arrival to its first byte. */
  firstByteMs: number | null = null;
  /** How long the client let us wait before it read on, in total. */
  clientWaitMs = 0;
  /** Writes the frame that ends it, which has its cost in USD. */
  lastFrame: (cost: number) => string = () => '';
  /** The answer is not complete, so the end must not look like one. */
  isCut = false;
  readonly #of: Streaming;
  #stream: ClientStream | null = null;
  /** Headers for which a keep-alive's head came too early. */
  #late: Headers = {};
  #recorded: Buffer[] | null = [];
  #recordedBytes = 0;

  constructor(of: Streaming) {
    this.#of = of;
    if (!of.held.storage.isUsed) this.#recorded = null;
  }

  /** `headers`: about the route that answers. Resolves when the client has room for more. */
  async write(pieces: Iterable<Buffer>, headers: Headers): Promise<void> {
    const { accepted, held } = this.#of;
    const { clock } = accepted.gateway;
    if (this.firstByteMs === null) {
      this.firstByteMs = elapsedMs(clock, accepted.caller);
      accepted.caller.record.note({ firstByteMs: this.firstByteMs });
      this.contentType = headers['content-type']!;
    }
    for (const piece of pieces) {
      this.#record(piece);
      if (held.client.isGone()) continue;
      const startedAtMs = clock.elapsedMs();
      await this.#open(headers).write(piece);
      this.clientWaitMs += clock.elapsedMs() - startedAtMs;
    }
  }

  /** Returns all of it, as a replay sends it; null: it is too long to be stored. */
  recorded(): Buffer | null {
    if (!this.#recorded || this.isCut) return null;
    return Buffer.concat([...this.#recorded, Buffer.from(this.lastFrame(0))]);
  }

  /** Sends its end, which waits for the charge. */
  end(charge: Charge): void {
    const { accepted, held } = this.#of;
    if (held.client.isGone() || !this.#stream) return;
    if (this.isCut) return this.#stream.cut();
    const { headers } = accepted.gateway;
    this.#stream.end(this.lastFrame(usdFromMicros(charge.costMicros)), {
      ...this.#late,
      ...chargeHeaders(headers, charge),
      ...retentionHeaders(headers, held.storage),
    });
  }

  fail(error: ApiError): void {
    const { accepted, held, isEvents } = this.#of;
    accepted.caller.record.noteError(error);
    if (held.client.isGone()) return;
    if (isEvents) this.#stream?.end(writeFailure(accepted, error), {});
    else this.#stream?.cut();
  }

  #record(piece: Buffer): void {
    this.#recordedBytes += piece.length;
    if (this.#recordedBytes > plainBytesMax) this.#recorded = null;
    this.#recorded?.push(piece);
  }

  #open(about: Headers): ClientStream {
    if (this.#stream) return this.#stream;
    const { accepted, held } = this.#of;
    const { headers } = accepted.gateway;
    const { cost, balance, reserved, idempotency } = headers;
    const head = {
      ...requestHeaders(accepted),
      ...about,
      ...retentionHeaders(headers, held.storage),
      [reserved]: String(held.hold.amountMicros),
    };
    const late = accepted.names.request ? [idempotency] : [];
    const { 'content-type': _, ...route } = about;
    if (held.client.hasHead?.()) this.#late = route;
    this.#stream = held.client.startStream(head, [cost, balance, ...late]);
    return this.#stream;
  }
}

export function writeFailure(
  { gateway, caller }: Pick<Accepted, 'gateway' | 'caller'>,
  error: ApiError,
): string {
  const body = clientFormats.responses.writeError(error, errorContextOf({ gateway, caller }));
  return formatSse(null, JSON.stringify(body));
}
