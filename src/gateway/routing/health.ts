// Circuit breakers of routes. A route is a provider with one of its models. After several failures
// in a row it is out of use for a while, longer each time. Then one request at a time probes it
// until one succeeds. There are no timers: the state is computed when asked for.

export type RouteName = { readonly provider: string; readonly upstreamModel: string };

/**
 * `unknown`: nobody waited for its end. `refused`: the provider rejects the operator's credential.
 */
export type CallEnding = 'good' | 'bad' | 'refused' | 'unknown';

export type RouteState = RouteName & {
  /** `probing`: its time is over, and one request at a time tries it. */
  readonly state: 'in-use' | 'ejected' | 'probing';
  /** Why it was last taken out of use. */
  readonly reason: 'failures' | 'refused' | null;
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
  /** Called when a route goes out of use and when it is back. */
  readonly onChange: (route: RouteState) => void;
};

export class RouteHealth {
  readonly #options: RouteHealthOptions;
  readonly #records = new Map<string, HealthRecord>();
  #ejected = 0;

  constructor(options: RouteHealthOptions) {
    this.#options = options;
  }

  /** Returns a model's routes to avoid now: at most half of them, and so never its only one. */
  avoided<Route extends RouteName>(routes: readonly Route[]): ReadonlySet<Route> {
    if (this.#ejected === 0 || routes.length < 2) return new Set();
    const untilMs = (route: Route) => this.#records.get(keyOf(route))?.ejectedUntilMs ?? 0;
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
    const record = this.#records.get(keyOf(route));
    if (!record || record.ejectedUntilMs === null) return true;
    return this.#isDue(record) && !record.isProbed;
  }

  /** Notes that a request is sent. */
  begin(route: RouteName): void {
    const record = this.#recordOf(route);
    record.calls += 1;
    if (this.#isDue(record)) record.isProbed = true;
  }

  /**
   * Notes that an answer began: others may use the route again, but one more failure takes it out
   * of use.
   */
  noteAnswer(route: RouteName): void {
    const record = this.#recordOf(route);
    if (record.ejectedUntilMs === null) return;
    record.failuresInRow = this.#options.failuresMax - 1;
    this.#restore(record);
  }

  /** Notes the end of a call. */
  end(route: RouteName, ending: CallEnding): void {
    const record = this.#recordOf(route);
    const wasProbe = record.isProbed && this.#isDue(record);
    record.isProbed = false;
    switch (ending) {
      case 'good':
        record.failuresInRow = 0;
        record.ejections = 0;
        if (record.ejectedUntilMs !== null) this.#restore(record);
        return;
      case 'bad':
        record.failures += 1;
        record.failuresInRow += 1;
        if (
          wasProbe ||
          (record.ejectedUntilMs === null && record.failuresInRow >= this.#options.failuresMax)
        )
          this.#eject(record);
        return;
      case 'refused':
        record.refusals += 1;
        this.#eject(record, 'refused');
        return;
      case 'unknown':
    }
  }

  /** Returns the state of every route that was ever used. */
  states(): RouteState[] {
    return Array.from(this.#records.values(), (record) => this.#stateOf(record));
  }

  #isDue({ ejectedUntilMs }: HealthRecord): boolean {
    return ejectedUntilMs !== null && ejectedUntilMs <= this.#options.nowMs();
  }

  #eject(record: HealthRecord, reason: 'failures' | 'refused' = 'failures'): void {
    const { ejectionMs, ejectionCapMs, nowMs, onChange } = this.#options;
    const lengthMs =
      reason === 'refused'
        ? ejectionCapMs
        : Math.min(ejectionMs * 2 ** record.ejections, ejectionCapMs);
    const isNews = record.ejectedUntilMs === null || this.#isDue(record);
    if (record.ejectedUntilMs === null) this.#ejected += 1;
    record.ejections += 1;
    record.ejectedUntilMs = nowMs() + lengthMs;
    record.reason = reason;
    if (isNews) onChange(this.#stateOf(record));
  }

  #restore(record: HealthRecord): void {
    this.#ejected -= 1;
    record.ejectedUntilMs = null;
    record.isProbed = false;
    this.#options.onChange(this.#stateOf(record));
  }

  #stateOf(record: HealthRecord): RouteState {
    const { provider, upstreamModel, reason, calls, failures, refusals, ejectedUntilMs } = record;
    const state = ejectedUntilMs === null ? 'in-use' : this.#isDue(record) ? 'probing' : 'ejected';
    return { provider, upstreamModel, state, reason, calls, failures, refusals, ejectedUntilMs };
  }

  #recordOf({ provider, upstreamModel }: RouteName): HealthRecord {
    const key = keyOf({ provider, upstreamModel });
    let record = this.#records.get(key);
    if (!record) {
      record = { provider, upstreamModel, ...unused };
      this.#records.set(key, record);
    }
    return record;
  }
}

type HealthRecord = {
  readonly provider: string;
  readonly upstreamModel: string;
  calls: number;
  failures: number;
  refusals: number;
  failuresInRow: number;
  /** Ejections since the last success. Each doubles the next ejection's time. */
  ejections: number;
  ejectedUntilMs: number | null;
  isProbed: boolean;
  reason: 'failures' | 'refused' | null;
};

const unused = {
  calls: 0,
  failures: 0,
  refusals: 0,
  failuresInRow: 0,
  ejections: 0,
  ejectedUntilMs: null,
  isProbed: false,
  reason: null,
} as const;

/** Provider names contain no spaces. */
function keyOf({ provider, upstreamModel }: RouteName): string {
  return `${provider} ${upstreamModel}`;
}
