// Circuit breakers of routes, and the speed at which each writes. A route is a provider with one of
// its models. After several failures in a row it is out of use for a while, longer each time. Then
// one request at a time probes it until one succeeds. There are no timers: the state is computed when
// asked for. All threads of the process share the records.
import { LRUCache } from 'lru-cache';
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { CallEnding, RequestEvent } from '../../events/request-events.ts';
import type { RequestListener } from '../../events/request-listener.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { SharedLock } from '../../lib/shared-lock.ts';
import {
  headBytes,
  keyOfRoute,
  recordBytes,
  recordLength,
  shareHealth,
  type RouteName,
  type SharedHealth,
} from './shared-health.ts';

type Reason = 'failures' | 'refused';

export type RouteState = RouteName & {
  /** `probing`: its time is over, and one request at a time tries it. */
  readonly state: 'in-use' | 'ejected' | 'probing';
  /** Why it was last taken out of use. */
  readonly reason: Reason | null;
  /** Since the start of the process. */
  readonly calls: number;
  readonly failures: number;
  readonly refusals: number;
  /** Out of use until then, in Unix milliseconds; null: in use. */
  readonly ejectedUntilMs: number | null;
};

type RouteHealthOptions = {
  /** Failures in a row that take a route out of use. */
  readonly failuresMax: number;
  readonly ejectionMs: number;
  readonly ejectionCapMs: number;
  readonly nowMs: () => number;
  /** Called when a route goes out of use and when it is back, in the thread that noticed it. */
  readonly onChange: (route: RouteState) => void;
  /** Default: no other thread. */
  readonly shared?: SharedHealth;
};

/** Output tokens, and the milliseconds in which they were written. */
export type Writing = { readonly tokens: number; readonly ms: number };

/** Streams are measured by what they show, whole answers with all the time before them. */
export type AnswerKind = 'stream' | 'whole';

/** Tokens a second of a route that has not been measured yet. */
const usualTokensPerSecond = 100;
/** No model is faster: such a stream was held back, and came at once. */
const tokensPerSecondMax = 5_000;
/** A speed is that of about the last minute of writing. */
const speedWindowMs = 60_000;
const measuredMsMin = 1_000;
/** A shorter whole answer measures the wait before it, which any client could make the route's speed. */
const wholeTokensMin = 100;

/** The records of own keys that a thread remembers: it forgets those used least recently. */
const ownKeyRecordsMax = 10_000;

export class RouteHealth implements RequestListener {
  readonly #options: RouteHealthOptions;
  readonly #records = new Map<string, SharedRecord>();
  /**
   * Of routes with accounts' own keys, which come and go: each thread has its own records, and shows
   * them to nobody.
   */
  readonly #ownKeys = new LRUCache<string, SharedRecord>({
    max: ownKeyRecordsMax,
    dispose: (shared) => this.#forget(shared),
  });
  readonly #memory: SharedArrayBuffer;
  readonly #lock: SharedLock;
  /** One number: how many routes are out of use. */
  readonly #ejected: Int32Array<SharedArrayBuffer>;

  constructor(options: RouteHealthOptions) {
    this.#options = options;
    const { names, memory } = options.shared ?? shareHealth([]);
    this.#memory = memory;
    this.#lock = new SharedLock(new Int32Array(memory, 0, 1));
    this.#ejected = new Int32Array(memory, 4, 1);
    this.share(names);
  }

  /** Shares the records of these routes with the other threads, which give the same names. */
  share(names: readonly RouteName[]): void {
    for (const [index, name] of names.entries()) {
      const values = new Float64Array(this.#memory, headBytes + index * recordBytes, recordLength);
      if (this.#records.get(keyOfRoute(name))?.values.byteOffset === values.byteOffset) continue;
      this.#records.set(keyOfRoute(name), { name, values });
    }
  }

  /** Uses the routes of a provider again, whose settings have changed. */
  forgetTrouble(provider: string): void {
    for (const { name } of this.#records.values()) {
      if (name.provider !== provider || this.#read(name).ejectedUntilMs === null) continue;
      this.#change(name, (record) => {
        record.failuresInRow = 0;
        record.ejections = 0;
        restore(record);
      });
    }
  }

  /** Returns a model's routes to avoid now: at most half of them, and so never its only one. */
  avoided<Route extends RouteName>(routes: readonly Route[]): ReadonlySet<Route> {
    if (Atomics.load(this.#ejected, 0) === 0 || routes.length < 2) return new Set();
    const untilMs = (route: Route) => this.#read(route).ejectedUntilMs ?? 0;
    const out = routes
      .filter((route) => !this.isAvailable(route))
      .toSorted((one, other) => untilMs(other) - untilMs(one));
    return new Set(out.slice(0, Math.floor(routes.length / 2)));
  }

  /**
   * Returns true when a request may be sent: the route is in use, or due for a probe that no other
   * request makes.
   */
  isAvailable(route: RouteName): boolean {
    const record = this.#read(route);
    return record.ejectedUntilMs === null || (this.#isDue(record) && !record.isProbed);
  }

  hear(event: RequestEvent): void {
    if (!('call' in event) || event.call.baseUrl === null) return;
    if (event.type === 'call-begun') this.begin(event.call);
    else if (event.type === 'first-byte') this.noteAnswer(event.call);
    else this.end(event.call, event.ending, event.failure);
  }

  /** Notes that a request is sent. */
  begin(route: RouteName): void {
    this.#change(route, (record) => {
      record.calls += 1;
      if (this.#isDue(record)) record.isProbed = true;
    });
  }

  /**
   * Notes that an answer began: others may use the route again, but one more failure takes it out
   * of use.
   */
  noteAnswer(route: RouteName): void {
    if (this.#read(route).ejectedUntilMs === null) return;
    this.#change(route, (record) => {
      if (record.ejectedUntilMs === null) return;
      record.failuresInRow = this.#options.failuresMax - 1;
      restore(record);
    });
  }

  /** Notes how a call ended. A failure that its request may have caused does not eject the route. */
  end(route: RouteName, ending: CallEnding, failure: UpstreamFailure | null = null): void {
    this.#change(route, (record) => {
      const wasProbe = record.isProbed && this.#isDue(record);
      record.isProbed = false;
      switch (ending) {
        case 'good':
          record.failuresInRow = 0;
          record.ejections = 0;
          restore(record);
          return;
        case 'bad':
          record.failures += 1;
          if (!failure?.isCausedByAccount) this.#noteFailure(record, wasProbe, 'failures');
          return;
        case 'refused':
          record.refusals += 1;
          // It may be about the request, too.
          if (failure?.status === 403) this.#noteFailure(record, wasProbe, 'refused');
          else this.#eject(record, 'refused', this.#options.ejectionCapMs);
          return;
        case 'unknown':
      }
    });
  }

  /** Notes what a call has written, and in which time. */
  noteWriting(route: RouteName, kind: AnswerKind, { tokens, ms }: Writing): void {
    if (tokens === 0 || tokens > (ms / 1_000) * tokensPerSecondMax) return;
    if (kind === 'whole' && tokens < wholeTokensMin) return;
    const { values } = this.#recordOf(route);
    const at = writingIndex[kind];
    const kept = speedWindowMs / (speedWindowMs + ms);
    this.#lock.run(() => {
      values[at] = values[at]! * kept + tokens;
      values[at + 1] = values[at + 1]! * kept + ms;
    });
  }

  /** Returns the speed of the route's answers, in output tokens of each choice. */
  tokensPerSecond(route: RouteName, kind: AnswerKind): number {
    const { values } = this.#recordOf(route);
    const [tokens, ms] = [values[writingIndex[kind]]!, values[writingIndex[kind] + 1]!];
    return ms < measuredMsMin ? usualTokensPerSecond : (tokens / ms) * 1_000;
  }

  /** Returns the state of every route of the operator's that was ever used. */
  states(): RouteState[] {
    return Array.from(this.#records.values(), (shared) =>
      this.#stateOf(shared.name, read(shared)),
    ).filter(({ calls, failures, refusals }) => calls + failures + refusals > 0);
  }

  #isDue({ ejectedUntilMs }: HealthRecord): boolean {
    if (ejectedUntilMs === null) return false;
    const restMs = ejectedUntilMs - this.#options.nowMs();
    // No ejection lasts longer than the cap; more is left only when the clock was set back.
    return restMs <= 0 || restMs > this.#options.ejectionCapMs;
  }

  #noteFailure(record: HealthRecord, wasProbe: boolean, reason: Reason): void {
    const { failuresMax, ejectionMs, ejectionCapMs } = this.#options;
    record.failuresInRow += 1;
    const isOften = record.failuresInRow >= failuresMax;
    if (wasProbe || (record.ejectedUntilMs === null && isOften))
      this.#eject(record, reason, Math.min(ejectionMs * 2 ** record.ejections, ejectionCapMs));
  }

  #eject(record: HealthRecord, reason: Reason, lengthMs: number): void {
    record.ejections += 1;
    record.ejectedUntilMs = this.#options.nowMs() + lengthMs;
    record.reason = reason;
  }

  /** Changes a record while no other thread does. Reports a route that goes out of use or is back. */
  #change(route: RouteName, change: (record: HealthRecord) => void): void {
    const shared = this.#recordOf(route);
    const changed = this.#lock.run(() => {
      const record = read(shared);
      const wasOut = record.ejectedUntilMs !== null;
      const wasDue = this.#isDue(record);
      change(record);
      write(shared, record);
      const isOut = record.ejectedUntilMs !== null;
      Atomics.add(this.#ejected, 0, Number(isOut) - Number(wasOut));
      const isOutAgain = isOut && wasDue && !this.#isDue(record);
      return isOut !== wasOut || isOutAgain ? record : null;
    });
    if (changed) this.#options.onChange(this.#stateOf(route, changed));
  }

  #stateOf({ provider, upstreamModel }: RouteName, record: HealthRecord): RouteState {
    const { reason, calls, failures, refusals, ejectedUntilMs } = record;
    const state = ejectedUntilMs === null ? 'in-use' : this.#isDue(record) ? 'probing' : 'ejected';
    return { provider, upstreamModel, state, reason, calls, failures, refusals, ejectedUntilMs };
  }

  #read(route: RouteName): HealthRecord {
    return read(this.#recordOf(route));
  }

  #recordOf(route: RouteName): SharedRecord {
    const key = keyOfRoute(route);
    const records = route.ownKeyId === undefined ? this.#records : this.#ownKeys;
    let record = records.get(key);
    if (!record) {
      const { provider, upstreamModel } = route;
      record = { name: { provider, upstreamModel }, values: new Float64Array(recordLength) };
      records.set(key, record);
    }
    return record;
  }

  #forget(shared: SharedRecord): void {
    if (read(shared).ejectedUntilMs !== null) Atomics.sub(this.#ejected, 0, 1);
  }
}

/**
 * A record in memory: its members in the order of `read`, as numbers, then its speeds; 0 in all for a
 * new one.
 */
type SharedRecord = { readonly name: RouteName; readonly values: Float64Array };

type HealthRecord = {
  calls: number;
  failures: number;
  refusals: number;
  failuresInRow: number;
  /** Ejections since the last success. Each doubles the next ejection's time. */
  ejections: number;
  ejectedUntilMs: number | null;
  isProbed: boolean;
  reason: Reason | null;
};

/** Where a record has tokens, then milliseconds, behind the members of `HealthRecord`. */
const writingIndex: Readonly<Record<AnswerKind, number>> = { stream: 8, whole: 10 };
const reasons = [null, 'failures', 'refused'] as const;

/** The routes that are out of use or being retried, for operators. */
export function routesInTrouble(health: RouteHealth) {
  return health
    .states()
    .flatMap(({ provider, upstreamModel: model, state, reason, ejectedUntilMs }) =>
      state === 'in-use'
        ? []
        : [{ provider, model, state, reason, until: isoTimeOf(ejectedUntilMs) }],
    );
}

function read({ values }: SharedRecord): HealthRecord {
  return {
    calls: values[0]!,
    failures: values[1]!,
    refusals: values[2]!,
    failuresInRow: values[3]!,
    ejections: values[4]!,
    ejectedUntilMs: values[5]! || null,
    isProbed: values[6] === 1,
    reason: reasons[values[7]!]!,
  };
}

function write({ values }: SharedRecord, record: HealthRecord): void {
  values[0] = record.calls;
  values[1] = record.failures;
  values[2] = record.refusals;
  values[3] = record.failuresInRow;
  values[4] = record.ejections;
  values[5] = record.ejectedUntilMs ?? 0;
  values[6] = Number(record.isProbed);
  values[7] = reasons.indexOf(record.reason);
}

function restore(record: HealthRecord): void {
  record.ejectedUntilMs = null;
  record.isProbed = false;
}
