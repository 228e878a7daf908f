// Alerts (domain/alerts/): their events, where they are sent, and each delivery.

export const alerts = {
  /** Events for alerts, in the order of writing. Removed after 60 days. */
  events: {
    /** The same in every delivery. */
    id: 'ID primary key',
    /** An `EventType`. */
    type: 'ID not null',
    /** null: it is about the service. */
    account_id: 'ID references accounts (id)',
    /** A second event with the same key is not written. null: the event is always written. */
    once_key: 'ID unique',
    /** JSON. */
    data: 'text not null',
    created_at_ms: 'INT not null',
    'index events_by_time': '(created_at_ms)',
  },

  /** Where events are sent to. */
  alert_endpoints: {
    id: 'ID primary key',
    /** null: an operator's own. */
    account_id: 'ID references accounts (id)',
    kind: "text not null in ('webhook', 'email', 'slack')",
    /** An e-mail address, or `owners`. Of the other kinds: the address without what is secret in it. */
    shown_address: 'text not null',
    /** A JSON array; null: all that its owner may hear of. */
    types: 'text',
    /** The address and the signing secrets, encrypted, in base64; null: e-mail has none. */
    sealed: 'text',
    /** The key id of the secret that they are encrypted under. */
    secret_id: 'ID',
    created_at_ms: 'INT not null',
    disabled_at_ms: 'INT',
    disabled_reason: 'text',
    'index alert_endpoints_by_account': '(account_id, created_at_ms)',
  },

  /** An event for one endpoint, written with the event. */
  event_deliveries: {
    /** `<event>.<endpoint>` */
    id: 'ID primary key',
    event_id: 'ID not null references events (id) on delete cascade',
    endpoint_id: 'ID not null references alert_endpoints (id) on delete cascade',
    attempts: 'COUNT default 0',
    /** When it is tried next; a gateway that tries moves it to the end of its lease. null: never. */
    next_at_ms: 'INT',
    created_at_ms: 'INT not null',
    tried_at_ms: 'INT',
    delivered_at_ms: 'INT',
    /** Why the last attempt failed. */
    problem: 'text',
    'index event_deliveries_due': '(endpoint_id, next_at_ms) where next_at_ms is not null',
    'index event_deliveries_by_endpoint': '(endpoint_id, created_at_ms)',
    'index event_deliveries_by_event': '(event_id)',
  },

  /** Live balances below which an account's owners are told. */
  balance_thresholds: {
    account_id: 'ID not null references accounts (id)',
    threshold_micros: 'INT not null check (threshold_micros > 0)',
    /** null when the balance has not fallen below the threshold since it was last above. */
    warned_at_ms: 'INT',
    'primary key': '(account_id, threshold_micros)',
    'kept as': 'ORDERED',
  },
} as const;
