// Sums and histories for the dashboard, which also count what the ledger does not book. Buffered in
// memory, so a killed process loses a few seconds of them.

export const activity = {
  /** Counts of uncharged requests by UTC day. */
  activity_days: {
    account_id: 'ID not null',
    mode: "ID not null in ('live', 'test')",
    day: 'ID not null',
    key_id: 'ID not null',
    /** '' when the request failed before its model was known. */
    model_id: 'ID not null',
    /** `hit`, `idempotent-replay`, or an error code. */
    outcome: 'ID not null',
    requests: 'COUNT',
    /** The original cost of the repeated answers, as far as it is known, and their tokens. */
    saved_micros: 'COUNT',
    input_tokens: 'COUNT',
    output_tokens: 'COUNT',
    'primary key': '(account_id, mode, day, key_id, model_id, outcome)',
    'index activity_days_by_day': '(day)',
    'kept as': 'HOT',
  },

  /** Requests of an account by UTC hour and provider, some seconds late. */
  activity_hours: {
    account_id: 'ID not null',
    mode: "ID not null in ('live', 'test')",
    /** `2026-11-21T12` */
    hour: 'ID not null',
    /** '' when a request was repeated, or failed before it had one. */
    provider: 'ID not null',
    /** Charged, repeated and failed ones. */
    requests: 'INT not null',
    errors: 'INT not null',
    cost_micros: 'INT not null',
    /** All input, including tokens read from a provider's cache. */
    input_tokens: 'INT not null',
    output_tokens: 'INT not null',
    'primary key': '(account_id, mode, hour, provider)',
    'index activity_hours_by_hour': '(hour)',
    'kept as': 'ORDERED',
  },

  /** Uncharged requests by UTC day and tag, some seconds late. */
  activity_tag_days: {
    account_id: 'ID not null',
    mode: "ID not null in ('live', 'test')",
    day: 'ID not null',
    tag: 'ID not null',
    /** As in `activity_days`. */
    outcome: 'ID not null',
    requests: 'INT not null',
    saved_micros: 'INT not null',
    'primary key': '(account_id, mode, day, tag, outcome)',
    'index activity_tag_days_by_day': '(day)',
    'kept as': 'ORDERED',
  },

  /**
   * Requests of an account, kept for `history.days`. Charged ones are listed from the ledger.
   */
  request_log: {
    account_id: 'ID not null',
    mode: "ID not null in ('live', 'test')",
    created_at_ms: 'INT not null',
    request_id: 'ID not null',
    key_id: 'ID not null',
    /** '' when the request failed before its model was known. */
    model_id: 'ID not null',
    /** The route's path: `/v1/chat/completions`. */
    path: 'text not null',
    outcome: "ID not null in ('charged', 'hit', 'idempotent-replay', 'failed')",
    /** The error code of a failed request; null: it did not fail. */
    code: 'ID',
    /** The HTTP status. */
    status: 'INT not null',
    streamed: 'FLAG not null',
    duration_ms: 'INT',
    /** null: no stream, or none of it came. */
    first_byte_ms: 'INT',
    /** The original cost of a repeated answer, as far as it is known, and its tokens. */
    saved_micros: 'INT not null',
    input_tokens: 'INT not null',
    output_tokens: 'INT not null',
    /** JSON: `RequestNotes` of domain/activity/request-notes.ts. */
    details: 'text not null',
    /** The program that sent it, `openai-python/2.8`; null: not known. */
    client: 'text',
    /** With commas around each: `,project=alpha,beta,`; null: none. */
    tags: 'text',
    'primary key': '(account_id, mode, created_at_ms, request_id)',
    'index request_log_by_request': '(request_id)',
    'index request_log_by_age': '(created_at_ms)',
    'index request_log_uncharged':
      "(account_id, mode, created_at_ms desc, request_id desc) where outcome <> 'charged'",
    'kept as': 'ORDERED',
  },

  /**
   * Latency histograms of charged requests; domain/activity/latency.ts has the buckets. Each request
   * counts in its day and its month, and in each way to group, so that a year is read as a few months.
   */
  latency_sums: {
    account_id: 'ID not null',
    mode: "ID not null in ('live', 'test')",
    grouped_by: "ID not null in ('none', 'model', 'key', 'provider', 'tag')",
    /** A UTC day, `2026-11-21`, or a month, `2026-11`; of all requests an hour, too: `2026-11-21T12`. */
    period: 'ID not null',
    /** The id of the model or key, the provider or the tag; '' without a breakdown. */
    group_id: 'ID not null',
    /** `first`: to the first piece of a stream. `whole`: to the end of any request. */
    kind: "ID not null in ('first', 'whole')",
    latency_bucket: 'INT not null',
    requests: 'INT not null',
    'primary key': '(account_id, mode, grouped_by, period, group_id, kind, latency_bucket)',
    'index latency_sums_by_period': '(period)',
    'kept as': 'ORDERED',
  },

  /** Provider latency histograms by UTC hour; domain/activity/latency.ts defines the buckets. */
  provider_hours: {
    /** `2026-11-21T12` */
    hour: 'ID not null',
    provider: 'ID not null',
    /** Streams are measured to their first chunk, whole answers to their end. */
    kind: "ID not null in ('stream', 'whole')",
    ending: "ID not null VALUES ('good', 'bad', 'refused', 'unknown')",
    latency_bucket: 'INT not null',
    calls: 'COUNT',
    'primary key': '(hour, provider, kind, ending, latency_bucket)',
    'kept as': 'HOT',
  },
} as const;
