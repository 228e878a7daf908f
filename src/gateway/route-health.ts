// Which routes work. A route is a provider with one of its models; one that fails several times in a row is out of use for a while, each
// time for longer, and is then tried by one request at a time until one succeeds. It keeps no timers: what is due shows when it is asked.

export type RouteName = { readonly provider: string; readonly upstreamModel: string };

/** `unknown`: nobody waited for its end. `refused`: the provider does not take the operator's credential. */
export type CallEnding = 'good' | 'bad' | 'refused' | 'unknown';

export type RouteState = RouteName & {
  /** `probing`: its time is over, and one request at a time tries it. */
  readonly state: 'in-use' | 'ejected' | 'probing';
  /** Why it was last out of use. */
  readonly reason: 'failures' | 'refused' | null;
  /** Since the start. */
  readonly calls: number;
  readonly failures: number;
  readonly refusals: number;
  /** Until when it is out of use, as Unix milliseconds; null: it is in use. */
  readonly ejectedUntilMs: number | null;
};

export type RouteHealthOptions = {
  /** How many failures in a row put a route out of use. */
  readonly failuresMax: number;
  readonly ejectionMs: number;
  readonly ejectionCapMs: number;
  readonly nowMs: () => number;
  /** Told when a route goes out of use and when it is back. */
  readonly onChange: (route: RouteState) => void;
};

export class RouteHealth {
  readonly #options: RouteHealthOptions;
  readonly #records = new Map<string, HealthRecord>();
  #ejected = 0;

  constructor(options: RouteHealthOptions) {
    this.#options = options;
  }

  /** Those of a model's routes that are to be left alone now: at most half of them, and so never a model's only one. */
  avoided<Route extends RouteName>(routes: readonly Route[]): ReadonlySet<Route> {
    if (this.#ejected === 0 || routes.length < 2) return new Set();
    const untilMs = (route: Route) => this.#records.get(keyOf(route))?.ejectedUntilMs ?? 0;
    const out = routes.filter((route) => !this.isFree(route)).toSorted((one, other) => untilMs(other) - untilMs(one));
    return new Set(out.slice(0, Math.floor(routes.length / 2)));
  }

  /** Whether a request may be sent there: it is in use, or its time is over and no other request tries it. */
  isFree(route: RouteName): boolean {
    const record = this.#records.get(keyOf(route));
    if (!record || record.ejectedUntilMs === null) return true;
    return this.#isDue(record) && !record.isProbed;
  }

  /** A request is sent there. */
  begin(route: RouteName): void {
    const record = this.#recordOf(route);
    record.calls += 1;
    if (this.#isDue(record)) record.isProbed = true;
  }

  /** An answer has begun: that is enough to let others in, while one more failure puts the route out of use again. */
  noteAnswer(route: RouteName): void {
    const record = this.#recordOf(route);
    if (record.ejectedUntilMs === null) return;
    record.failuresInRow = this.#options.failuresMax - 1;
    this.#restore(record);
  }

  /** The call has come to its end. */
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
        if (wasProbe || (record.ejectedUntilMs === null && record.failuresInRow >= this.#options.failuresMax))
          this.#eject(record);
        return;
      case 'refused':
        record.refusals += 1;
        this.#eject(record, 'refused');
        return;
      case 'unknown':
    }
  }

  /** Every route that was ever used. */
  states(): RouteState[] {
    return Array.from(this.#records.values(), (record) => this.#stateOf(record));
  }

  #isDue({ ejectedUntilMs }: HealthRecord): boolean {
    return ejectedUntilMs !== null && ejectedUntilMs <= this.#options.nowMs();
  }

  #eject(record: HealthRecord, reason: 'failures' | 'refused' = 'failures'): void {
    const { ejectionMs, ejectionCapMs, nowMs, onChange } = this.#options;
    const lengthMs = reason === 'refused' ? ejectionCapMs : Math.min(ejectionMs * 2 ** record.ejections, ejectionCapMs);
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
  /** In a row. */
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

/** No name of a provider has a space. */
function keyOf({ provider, upstreamModel }: RouteName): string {
  return `${provider} ${upstreamModel}`;
}
