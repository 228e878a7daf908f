// The record of a request: its facts and its spans. Each step of the request notes facts and tells
// events here; the facts are read when the request is over.
import { type ApiError, withoutWords } from '../canonical/errors.ts';
import type {
  CallEnded,
  Charged,
  HoldTried,
  RequestEvent,
  Settled,
} from '../events/request-events.ts';
import type { ObservedRequest, RequestListener } from '../events/request-listener.ts';
import { RequestFields, type RequestNotes } from '../events/request-fields.ts';
import type { RequestSpans } from '../events/request-spans.ts';
import { totalInputTokens } from '../canonical/usage.ts';
import type { Clock } from '../lib/clock.ts';
import type { TraceContext } from '../lib/trace-context.ts';

type StepEvent = Omit<HoldTried, 'startMs' | 'endMs'> | Omit<Settled, 'startMs' | 'endMs'>;
type About = Pick<ObservedRequest, 'path'> & {
  readonly listeners: readonly RequestListener[];
  /** A listener has thrown. */
  readonly onError: (error: unknown) => void;
};

const nobody: About = { path: '', listeners: [], onError: () => {} };

export class RequestRecord implements ObservedRequest {
  readonly path: string;
  readonly fields: RequestFields;
  spans: RequestSpans | null = null;
  /** The client's trace or our own, which calls of providers continue; null: none. */
  trace: TraceContext | null = null;
  readonly #listeners: readonly RequestListener[];
  readonly #onError: About['onError'];

  constructor(requestId: string, { path, listeners, onError }: About = nobody) {
    this.fields = new RequestFields(requestId);
    this.path = path;
    this.#listeners = listeners;
    this.#onError = onError;
  }

  /** Overwrites fields that were noted before. */
  note(notes: RequestNotes): void {
    Object.assign(this.fields, notes);
  }

  tell(event: RequestEvent): void {
    this.#keep(event);
    this.spans?.keep(event);
    for (const listener of this.#listeners)
      try {
        listener.hear(event, this);
      } catch (error) {
        // What was charged is delivered, whatever a listener does.
        this.#onError(error);
      }
  }

  /**
   * Runs a step, then tells its event with its times. `eventOf` gets null when the step has thrown.
   */
  async tellStep<T>(
    clock: Pick<Clock, 'elapsedMs'>,
    step: () => Promise<T>,
    eventOf: (result: T | null) => StepEvent,
  ): Promise<T> {
    const startMs = clock.elapsedMs();
    let result: T | null = null;
    try {
      result = await step();
      return result;
    } finally {
      this.tell({ ...eventOf(result), startMs, endMs: clock.elapsedMs() });
    }
  }

  noteError(error: ApiError): void {
    const { code, details, isQuoted } = error;
    const { message, param } = withoutWords(error);
    Object.assign(this.fields, {
      errorCode: code,
      errorParam: param,
      errorMessage: isQuoted ? undefined : message,
    });
    const { limit, scope } = details ?? {};
    if (code === 'rate_limit_exceeded' && typeof limit === 'string')
      this.note({
        rateLimit: limit,
        rateLimitScope: typeof scope === 'string' ? scope : 'address',
      });
  }

  #keep(event: RequestEvent): void {
    switch (event.type) {
      case 'hold-tried':
        if (event.outcome === 'held') this.note({ holdMicros: event.amountMicros });
        return;
      case 'hold-extended':
        return this.note({ holdMicros: event.amountMicros });
      case 'call-begun': {
        const { number, provider } = event.call;
        if (number !== null) this.note({ attempts: number, provider });
        return;
      }
      case 'call-ended':
        return this.#keepCall(event);
      case 'settled':
        if (event.settled?.kind === 'charged') return this.#keepCharge(event.settled);
        this.note({ ending: 'failed' });
        return this.#addLoss(event.settled?.lossMicros ?? 0);
      case 'lost':
        return this.#addLoss(event.lossMicros);
      case 'first-byte':
      case 'answered':
    }
  }

  #keepCall({ call, failure, stop, endMs }: CallEnded): void {
    const { provider, upstreamModel, baseUrl, number, startMs, firstByteMs } = call;
    if (number !== null && failure) this.note({ upstreamStatus: failure.status });
    if (stop) this.note({ finish: stop });
    if (baseUrl === null) return;
    const one = {
      provider,
      model: upstreamModel,
      ending: failure ? ('failed' as const) : ('answered' as const),
      failure: failure?.kind ?? null,
      status: failure?.status ?? null,
      ms: Math.round((firstByteMs ?? endMs) - startMs),
    };
    Object.assign(this.fields, { tries: [...(this.fields.tries ?? []), one] });
  }

  #keepCharge(charged: Charged): void {
    const { provider, ending, costMicros, upstreamCostMicros, usage, lossMicros } = charged;
    this.note({ provider, ending, costMicros, upstreamCostMicros });
    if (usage)
      this.note({ inputTokens: totalInputTokens(usage), outputTokens: usage.outputTokens });
    this.#addLoss(lossMicros);
  }

  #addLoss(lossMicros: number): void {
    Object.assign(this.fields, { lossMicros: (this.fields.lossMicros ?? 0) + lossMicros });
  }
}
