// The spans of one request, recorded while telemetry is on: the request itself, and each hold, call
// of a provider and settlement within it. Every step writes and none reads; they are read once, when
// the request is over. Times are by `Clock.elapsedMs`.
import { newSpanId, type ClientTrace, type TraceContext } from '../lib/trace-context.ts';
import type { Stop, UpstreamFailure } from './event.ts';
import type { Usage } from './usage.ts';

/** A call of a provider. */
export type CallFacts = {
  /** Its name in the configuration. */
  readonly provider: string;
  /** As the provider calls it; '': it has no name there, as a search. */
  readonly upstreamModel: string;
  /** null: the sandbox answers, and nothing is sent. */
  readonly baseUrl: string | null;
  readonly isStream: boolean;
};

export type HoldOutcome = 'held' | 'refused';

/** What the ledger answered: the amounts are those of its entry. */
export type Settled = {
  readonly kind: 'charged' | 'released';
  readonly costMicros: number;
  readonly lossMicros: number;
};

class Span {
  readonly id = newSpanId();
  readonly startMs: number;
  /** null: it never ended by itself, so it ends with the request. */
  endMs: number | null = null;
  readonly #elapsedMs: () => number;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
    this.startMs = elapsedMs();
  }

  /** Later calls change nothing. */
  end(): void {
    this.endMs ??= this.#elapsedMs();
  }

  protected elapsed(): number {
    return this.#elapsedMs();
  }
}

export class CallSpan extends Span {
  readonly kind = 'call';
  readonly facts: CallFacts;
  /** What the call continues, for its `traceparent`. */
  readonly trace: TraceContext;
  /** When the first piece of a stream came; null: none has, or the answer came whole. */
  firstPieceMs: number | null = null;
  failure: Pick<UpstreamFailure, 'kind' | 'status'> | null = null;
  usage: Usage | null = null;
  stop: Stop['reason'] | null = null;

  constructor(elapsedMs: () => number, trace: TraceContext, facts: CallFacts) {
    super(elapsedMs);
    this.facts = facts;
    this.trace = { ...trace, spanId: this.id };
  }

  noteFirstPiece(): void {
    this.firstPieceMs ??= this.elapsed();
  }

  /** Ends it as a failure. */
  fail(failure: Pick<UpstreamFailure, 'kind' | 'status'>): void {
    this.failure = failure;
    this.end();
  }
}

export class HoldSpan extends Span {
  readonly kind = 'hold';
  readonly amountMicros: number;
  outcome: HoldOutcome | null = null;

  constructor(elapsedMs: () => number, amountMicros: number) {
    super(elapsedMs);
    this.amountMicros = amountMicros;
  }
}

export class SettlementSpan extends Span {
  readonly kind = 'settlement';
  /** null: the ledger did not write it. */
  settled: Settled | null = null;
}

export type StepSpan = CallSpan | HoldSpan | SettlementSpan;

/** A prompt and its answer, as JSON in the words of the semantic conventions; null: there is none. */
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
  readonly elapsedMs: () => number;
};

export class RequestSpans {
  /** The span of the request itself. */
  readonly id = newSpanId();
  /** The client's span; null: none. */
  readonly parentId: string | null;
  /** What calls continue that have no span of their own. */
  readonly trace: TraceContext;
  readonly isSampled: boolean;
  readonly steps: StepSpan[] = [];
  /** The account's own exporter takes the spans; null: it does not. */
  account: AccountExport | null = null;
  /** Reads what was asked and answered; null: the account does not export it. */
  readContent: (() => SpanContent) | null = null;
  /** The model's name as the client sent it; null: the request names none. */
  askedModel: string | null = null;
  readonly #elapsedMs: () => number;
  #running = 0;
  #onOver: (() => void) | null = null;

  constructor({ client, traceId, isSampled, flags, elapsedMs }: SpanOrigin) {
    this.#elapsedMs = elapsedMs;
    this.isSampled = isSampled;
    this.parentId = client?.callerId ?? null;
    this.trace = {
      traceId,
      spanId: this.id,
      flags,
      state: client?.state ?? null,
    };
  }

  beginCall(facts: CallFacts): CallSpan {
    return this.#begin(new CallSpan(this.#elapsedMs, this.trace, facts));
  }

  beginHold(amountMicros: number): HoldSpan {
    return this.#begin(new HoldSpan(this.#elapsedMs, amountMicros));
  }

  beginSettlement(): SettlementSpan {
    return this.#begin(new SettlementSpan(this.#elapsedMs));
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

  #begin<Step extends StepSpan>(step: Step): Step {
    this.steps.push(step);
    return step;
  }
}

/** Returns a model's name as it was sent; undefined for text that no model is named by. */
export function modelNameOf(model: unknown): string | undefined {
  return typeof model === 'string' && /^[\w.:/@+-]{1,200}$/.test(model) ? model : undefined;
}
