// Requests that are over: each has one line in the log, and is counted. They are told of a moment later and many together, since code that
// has just run runs in half the time, and nobody waits for it.
import type { Activity } from '../activity/activity.ts';
import type { RequestTrace } from '../gateway/gateway.ts';
import type { Clock } from '../lib/clock.ts';
import { jsonMembers, type Logger } from '../lib/log.ts';
import type { RequestMeter } from './metrics.ts';

/** A request as the log and the metrics see it. */
export type Traced = {
  readonly trace: RequestTrace;
  readonly method: string;
  /** The pattern that matched, as `/v1/models/*`; null: none did. */
  readonly route: string | null;
  /** The public one that it is another way to; left out: it is none. */
  readonly publicUrl?: string;
  /** Of requests with one of these nothing differs but id, status and time, so that they are counted together. */
  kind?: object;
};

export type EndedRequest = {
  readonly traced: Traced;
  readonly status: number;
  readonly tookMs: number;
  readonly isClientGone: boolean;
};

type Observers = {
  readonly log: Logger;
  readonly meter: RequestMeter;
  readonly activity: Activity;
  readonly clock: Clock;
};

const waitMs = 20;
const batchMax = 256;

export class EndedRequests {
  readonly #observers: Observers;
  #batch: EndedRequest[] = [];

  constructor(observers: Observers) {
    this.#observers = observers;
  }

  note(ended: EndedRequest): void {
    const waiting = this.#batch.push(ended);
    if (waiting === 1) this.#observers.clock.after(waitMs, () => this.tell());
    else if (waiting >= batchMax) this.tell();
  }

  /** Of all that wait, now. */
  tell(): void {
    const batch = this.#batch;
    this.#batch = [];
    let group: Group | null = null;
    for (const ended of batch) {
      if (!group || !isOfKind(group, ended)) {
        this.#count(group);
        group = { first: ended, count: 0, members: membersOf(ended) };
      }
      group.count += 1;
      this.#observers.log[ended.status >= 500 ? 'warn' : 'info'](timesOf(ended) + group.members, 'request');
      this.#observers.meter.time(ended.traced.route, ended.tookMs / 1_000);
    }
    this.#count(group);
  }

  #count(group: Group | null): void {
    if (!group) return;
    const { count, first } = group;
    const { trace, route, publicUrl } = first.traced;
    this.#observers.activity.noteRequest(trace, publicUrl ?? route ?? '', count);
    this.#observers.meter.count({ route, status: first.status, trace }, count);
  }
}

/** Requests that differ in nothing but what `timesOf` tells. `members`: the rest of their lines, as JSON. */
type Group = { readonly first: EndedRequest; count: number; readonly members: string };

function isOfKind({ first }: Group, { traced, status }: EndedRequest): boolean {
  return traced.kind !== undefined && traced.kind === first.traced.kind && status === first.status;
}

/** As JSON: of all that is told of a request, this alone differs among those of a kind. */
function timesOf({ traced: { trace }, tookMs, isClientGone }: EndedRequest): string {
  const firstByte = trace.firstByteMs === undefined ? '' : `,"first_byte_ms":${trace.firstByteMs}`;
  return `,"request_id":"${trace.requestId}","duration_ms":${Math.round(tookMs * 10) / 10}${firstByte},"client_gone":${isClientGone}`;
}

/** An allow-list: nothing of a header, a query or a body can slip into the log. */
function membersOf({ traced: { trace, method, route }, status }: EndedRequest): string {
  return jsonMembers({
    method,
    route,
    status,
    account_id: trace.accountId,
    key_id: trace.keyId,
    mode: trace.mode,
    model: trace.model,
    provider: trace.provider,
    attempts: trace.attempts,
    stream: trace.stream,
    cache: trace.cache,
    input_tokens: trace.inputTokens,
    output_tokens: trace.outputTokens,
    hold_micros: trace.holdMicros,
    cost_micros: trace.costMicros,
    loss_micros: trace.lossMicros,
    ending: trace.ending,
    error_code: trace.errorCode,
    upstream_status: trace.upstreamStatus,
  });
}
