// The state of an audit at the end of a sealed day, from which `verify` continues. As JSON, always
// in the same order, so that it has a digest.
import { type Audit, newAudit, windowId } from '../reports/audit.ts';
import { dayOf, monthOf } from '../../../lib/utc-time.ts';

/** Sums by day are left out: those of a sealed day are final, and compared when it is sealed. */
type State = {
  readonly [Part in 'ledgers' | 'windows' | 'open' | 'expired']: readonly (Audit[Part] extends Map<
    infer Key,
    infer Value
  >
    ? readonly [Key, Value]
    : never)[];
} & Pick<Audit, 'entries' | 'charges' | 'uncollected' | 'failed'>;

/**
 * Windows that ended before `sinceMs`, the end of the seal before, are left out, unless a hold can
 * still be settled in them. Those of the sealed day stay: an entry of it may not be covered yet.
 */
export function writeState(audit: Audit, sinceMs: number): string {
  const { entries, charges, uncollected, failed, open, expired } = audit;
  const holds = [...open.values(), ...expired.values()];
  const needed = new Set(
    holds.flatMap(({ key_id: keyId, day, month }) => [
      windowId(keyId, 'day', day),
      windowId(keyId, 'month', month),
    ]),
  );
  const since = { day: dayOf(sinceMs), month: monthOf(sinceMs) };
  const isCurrent = (id: string) => {
    const [kind, startsOn] = id.split(' ').slice(-2) as ['day' | 'month', string];
    return startsOn >= since[kind];
  };
  const state: State = {
    ledgers: listOf(audit.ledgers).filter(([, { last_entry_at_ms: timeMs }]) => timeMs > 0),
    windows: listOf(audit.windows).filter(([id]) => isCurrent(id) || needed.has(id)),
    open: listOf(open),
    expired: listOf(expired),
    entries,
    charges,
    uncollected,
    failed,
  };
  return JSON.stringify(state);
}

/** Ledgers without entries so far begin at zero. */
export function readState(text: string, ledgerIds: readonly string[]): Audit {
  const { ledgers, windows, open, expired, ...counts } = JSON.parse(text) as State;
  const audit = newAudit(ledgerIds);
  return {
    ...audit,
    ...counts,
    ledgers: new Map([...audit.ledgers, ...ledgers]),
    windows: new Map(windows),
    open: new Map(open),
    expired: new Map(expired),
  };
}

function listOf<Value>(map: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...map].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
