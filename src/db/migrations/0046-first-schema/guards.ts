// Triggers: tables that are append-only, and the revision by which a change makes gateways read
// their keys again.
import type { Store } from './words.ts';

/** The rest of a seal may change: its state is dropped, and its charges are removed. */
const fixed = `day, until_ms, after_seq, last_seq, ahead, entries, charges, entries_digest,
  charges_digest, sums_digest, state_digest, tags_digest, previous_digest, digest, sealed_at_ms`;

/** The marks of a removal are set once, one after the other and in the order of days. */
const isWrongMark = `(old.removing_since_ms is not null and new.removing_since_ms is distinct from old.removing_since_ms)
  or (old.removed_at_ms is not null and new.removed_at_ms is distinct from old.removed_at_ms)
  or (old.removing_since_ms is null and new.removed_at_ms is not null)
  or (new.removing_since_ms is not null and exists (
    select 1 from sealed_days as earlier where earlier.day < new.day and earlier.removed_at_ms is null))`;

/** Charges may be deleted up to the end of the last day that is being removed. */
const isUnremovable = `old.created_at_ms >= coalesce((select until_ms from sealed_days where removing_since_ms is not null order by day desc limit 1), 0)`;

type Refusal = {
  readonly on: string;
  /** By the trigger's name: the events that are refused. */
  readonly events?: Readonly<Record<string, string>>;
  /** On SQLite. On PostgreSQL, the function has the condition and the message. */
  readonly message: string;
  readonly when?: string;
  readonly calls?: string;
};

const always = { update: 'update', delete: 'delete' };
const correct = 'are append-only: correct a mistake with a credit or a debit';
const seals = { on: 'sealed_days', message: 'sealed days are append-only' };
const refusals: readonly Refusal[] = [
  { on: 'entries', message: `entries ${correct}` },
  { on: 'charges', events: { update: 'update' }, message: `charges ${correct}` },
  {
    on: 'charges',
    events: { delete: 'delete' },
    message: `charges ${correct}`,
    when: isUnremovable,
    calls: 'refuse_unsealed_delete',
  },
  { on: 'prices', message: 'prices are append-only: charges were made by them' },
  { ...seals, events: { update: `update of ${fixed}`, delete: 'delete' } },
  {
    ...seals,
    events: { mark: 'update of removing_since_ms, removed_at_ms' },
    when: isWrongMark,
    calls: 'refuse_wrong_mark',
  },
  { on: 'audit_log', message: 'audit_log is append-only', calls: 'refuse_audit_change' },
  {
    on: 'payment_events',
    message: 'payment_events are append-only: bookings follow from all of them',
  },
];

function refuse({ on, events = always, message, when, calls }: Refusal, store: Store): string[] {
  return Object.entries(events).map(([name, event]) => {
    const start = `create trigger ${on}_refuse_${name} before ${event} on ${on}`;
    return store === 'postgres'
      ? `${start} for each row execute function ${calls ?? 'refuse_change'}()`
      : `${start} ${when ? `when ${when}` : ''} begin select raise(abort, '${message}'); end`;
  });
}

/** Only PostgreSQL has the command. */
const refuseTruncate = [
  'entries',
  'charges',
  'charges_default',
  'charges_history',
  'prices',
  'sealed_days',
  'audit_log',
  'payment_events',
].map(
  (table) => `create trigger ${table}_refuse_truncate before truncate on ${table} for each statement
    execute function ${table === 'audit_log' ? 'refuse_audit_change' : 'refuse_change'}()`,
);

/** PostgreSQL's functions. */
const functions = [
  `create function raise_keys_revision() returns trigger language plpgsql as $$ begin
    update revisions set value = value + 1 where name = 'keys';
    return null;
  end $$`,
  ...Object.entries({
    refuse_change: `'% ${correct}', tg_table_name`,
    refuse_audit_change: `'audit_log is append-only'`,
  }).map(
    ([name, message]) => `create function ${name}() returns trigger language plpgsql as $$ begin
    raise exception ${message};
  end $$`,
  ),
  `create function refuse_unsealed_delete() returns trigger language plpgsql as $$ begin
    if ${isUnremovable} then
      raise exception '% ${correct}', tg_table_name;
    end if;
    return old;
  end $$`,
  `create function refuse_wrong_mark() returns trigger language plpgsql as $$ begin
    if ${isWrongMark} then
      raise exception '${seals.message}';
    end if;
    return new;
  end $$`,
];

/** By table, the changes that raise the revision. */
const raises: Readonly<Record<string, readonly string[]>> = {
  accounts: ['update'],
  api_keys: ['insert', 'delete', 'update'],
  account_model_prices: ['insert', 'update', 'delete'],
  account_telemetry: ['insert', 'update', 'delete'],
  key_owners: ['insert', 'update', 'delete'],
  member_budgets: ['insert', 'update', 'delete'],
  own_keys: ['insert', 'delete', 'update of goes_first'],
};

function raise(on: string, event: string, store: Store): string {
  const name = `keys_revision_after_${event.split(' ', 1)[0]}_on_${on}`;
  // Rehashing a key's digest does not change the key for caches.
  const when = on === 'api_keys' && event === 'update' ? 'when (old.digest = new.digest)' : '';
  const raised =
    store === 'postgres'
      ? 'execute function raise_keys_revision()'
      : `begin update revisions set value = value + 1 where name = 'keys'; end`;
  return `create trigger ${name} after ${event} on ${on} for each row ${when} ${raised}`;
}

export function guardsOn(store: Store): readonly string[] {
  return [
    ...(store === 'postgres' ? [...functions, ...refuseTruncate] : []),
    ...refusals.flatMap((refusal) => refuse(refusal, store)),
    ...Object.entries(raises).flatMap(([on, events]) =>
      events.map((event) => raise(on, event, store)),
    ),
  ];
}
