// The spans of one request, kept while telemetry is on: the request itself, and each hold, call of
// a provider and settlement within it. They are read once, when the request is over.
import { newSpanId, type ClientTrace, type TraceContext } from '../lib/trace-context.ts';
import type { CallEnded, HoldTried, RequestEvent, Settled } from './request-events.ts';
import type { Usage } from '../canonical/usage.ts';

/** A step of a request that has a span. */
export type Step = HoldTried | CallEnded | Settled;

/**
 * A prompt and its answer, as JSON in the words of the semantic conventions; null: there is none.
 */
export type SpanContent = {
  readonly system: string | null;
  readonly input: string | null;
  readonly output: string | null;
  /** Something was left out, because it was too long. */
  readonly isCut: boolean;
};

/** The settings of an account's own export, as they were when the request began. */
export type AccountExport = {
  readonly accountId: string;
  readonly version: number;
  readonly samplingRatio: number;
  /** Prompts and answers are exported too. */
  readonly includesContent: boolean;
};

/** Where a request's trace comes from and who gets it. */
type SpanOrigin = {
  /** null: the client sent no trace, so one begins here. */
  readonly client: ClientTrace | null;
  /** The client's, or a new one. */
  readonly traceId: string;
  /** The operator's exporter takes the spans. */
  readonly isSampled: boolean;
  /** For the calls of providers. */
  readonly flags: string;
};

export class RequestSpans {
  /** The span of the request itself. */
  readonly id = newSpanId();
  /** The client's span; null: none. */
  readonly parentId: string | null;
  /** Sent by calls of providers that have no span, such as counting. */
  readonly trace: TraceContext;
  readonly isSampled: boolean;
  /** In the order in which they ended. */
  readonly steps: Step[] = [];
  /** The tokens that the last call is charged for; null: none. */
  usage: Usage | null = null;
  /** The account's own exporter takes the spans; null: it does not. */
  account: AccountExport | null = null;
  /** Reads what was asked and answered; null: the account does not export it. */
  readContent: (() => SpanContent) | null = null;
  /** The model's name as the client sent it; null: the request names none. */
  askedModel: string | null = null;
  #running = 0;
  #onOver: (() => void) | null = null;

  constructor({ client, traceId, isSampled, flags }: SpanOrigin) {
    this.isSampled = isSampled;
    this.parentId = client?.callerId ?? null;
    this.trace = {
      traceId,
      spanId: this.id,
      flags,
      state: client?.state ?? null,
    };
  }

  /** The last call of a provider to end; undefined: none did. */
  get lastCall(): CallEnded | undefined {
    return this.steps.findLast((step) => step.type === 'call-ended');
  }

  /** Returns a trace for a step that begins now, with a new `spanId`. */
  traceOfStep(): TraceContext {
    return { ...this.trace, spanId: newSpanId() };
  }

  keep(event: RequestEvent): void {
    switch (event.type) {
      case 'settled':
        if (event.settled?.kind === 'charged') this.usage = event.settled.usage;
        this.steps.push(event);
        return;
      case 'hold-tried':
      case 'call-ended':
        this.steps.push(event);
        return;
      default:
    }
  }

  /** Notes the model that a body names. */
  noteAsked(body: unknown): void {
    const { model } = (body ?? {}) as { readonly model?: unknown };
    this.askedModel = modelNameOf(model) ?? null;
  }

  /** Called when a run begins: a request can outlive its client, and is over when its run is. */
  enter(): void {
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#onOver?.();
  }

  /** Calls back once, when nothing of the request runs any more. */
  whenOver(action: () => void): void {
    if (this.#running === 0) action();
    else this.#onOver = action;
  }
}

/**
 * Returns a model's name as it was sent; undefined for text that no model is named by, and for a key
 * that stands in its place by mistake.
 */
export function modelNameOf(model: unknown): string | undefined {
  return typeof model === 'string' &&
    /^(?!(?:tg|gsk|hf|fw|r8)_|(?:sk|xai|pplx|nvapi|csk)-|AIza)[\w.:/@+-]{1,200}$/.test(model)
    ? model
    : undefined;
}
