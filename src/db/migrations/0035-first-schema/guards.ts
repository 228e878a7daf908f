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

/** By table, the name of the trigger; the first partition has its table's. Only on PostgreSQL. */
const refuseTruncate = Object.entries({
  entries: 'entries',
  charges: 'charges',
  charges_default: 'charges_default',
  charges_history: 'charges',
  prices: 'prices',
  sealed_days: 'sealed_days',
  audit_log: 'audit_log',
  payment_events: 'payment_events',
}).map(
  ([table, name]) =>
    `create trigger ${name}_refuse_truncate before truncate on ${table} for each statement
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

type Raise = {
  readonly on: string;
  readonly events?: readonly string[];
  readonly when?: string;
  /** The triggers' names. SQLite has one for each event. */
  readonly sqlite: (event: string) => string;
  readonly postgres: string;
};

const raises: readonly Raise[] = [
  {
    on: 'accounts',
    events: ['update'],
    sqlite: (event) => `${event}_on_accounts`,
    postgres: 'update',
  },
  {
    on: 'api_keys',
    events: ['insert', 'delete'],
    sqlite: (event) => `${event}_on_api_keys`,
    postgres: 'change',
  },
  // Rehashing a key's digest does not change the key for caches.
  {
    on: 'api_keys',
    events: ['update'],
    when: 'old.digest = new.digest',
    sqlite: (event) => `${event}_on_api_keys`,
    postgres: 'key_update',
  },
  { on: 'account_model_prices', sqlite: (event) => `price_${event}`, postgres: 'price' },
  { on: 'account_telemetry', sqlite: (event) => `telemetry_${event}`, postgres: 'telemetry' },
  ...['key_owners', 'member_budgets'].map((on) => ({
    on,
    sqlite: (event: string) => `${event}_on_${on}`,
    postgres: 'change',
  })),
];

export function raise(
  { on, events = ['insert', 'update', 'delete'], when, sqlite, postgres }: Raise,
  store: Store,
): string[] {
  if (store === 'postgres')
    return [
      `create trigger keys_revision_after_${postgres} after ${events.join(' or ')} on ${on}
        for each row ${when ? `when (${when})` : ''} execute function raise_keys_revision()`,
    ];
  return events.map(
    (event) => `create trigger keys_revision_after_${sqlite(event)} after ${event} on ${on}
      ${when ? `when ${when}` : ''} begin
      update revisions set value = value + 1 where name = 'keys';
    end`,
  );
}

export function guardsOn(store: Store): readonly string[] {
  return [
    ...(store === 'postgres' ? [...functions, ...refuseTruncate] : []),
    ...refusals.flatMap((refusal) => refuse(refusal, store)),
    ...raises.flatMap((each) => raise(each, store)),
  ];
}
