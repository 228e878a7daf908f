// Converts between the ledger's values and database rows, the same for every store.
import type { Insertable, Selectable } from 'kysely';
import type { AnswerWorth } from '../../canonical/stored-response.ts';
import type {
  CachedResponsesTable,
  ChargesTable,
  EntriesTable,
  HoldsTable,
  IdempotentResponsesTable,
} from '../../db/schema.ts';
import type { CachedResponse, Charge, Entry, Hold, StoredResponse } from './book.ts';
import type { LedgerId } from './commands.ts';

export type EntryRow = Selectable<EntriesTable>;
export type ChargeRow = Selectable<ChargesTable>;
export type HoldRow = Selectable<HoldsTable>;

/** Only a reservation stores its windows; the other entries of its hold have the same. */
export function rowOfEntry(entry: Entry): Insertable<EntriesTable> {
  const isReserve = entry.kind === 'reserve';
  return {
    id: entry.id,
    kind: entry.kind,
    ledger_id: entry.ledgerId,
    key_id: entry.keyId,
    posted_delta_micros: entry.postedDeltaMicros,
    held_delta_micros: entry.heldDeltaMicros,
    loss_micros: entry.lossMicros,
    provoked: entry.isProvoked ? 1 : 0,
    available_micros: entry.availableMicros,
    day: isReserve ? entry.day : null,
    month: isReserve ? entry.month : null,
    daily_cap_micros: entry.dailyCapMicros,
    monthly_cap_micros: entry.monthlyCapMicros,
    note: entry.note,
    created_at_ms: entry.createdAtMs,
  };
}

export function entryOfRow(row: EntryRow): Entry {
  return {
    id: row.id,
    kind: row.kind,
    ledgerId: row.ledger_id as LedgerId,
    keyId: row.key_id,
    postedDeltaMicros: row.posted_delta_micros,
    heldDeltaMicros: row.held_delta_micros,
    lossMicros: row.loss_micros,
    isProvoked: row.provoked === 1,
    availableMicros: row.available_micros,
    day: row.day,
    month: row.month,
    dailyCapMicros: row.daily_cap_micros,
    monthlyCapMicros: row.monthly_cap_micros,
    note: row.note,
    createdAtMs: row.created_at_ms,
  };
}

export function rowOfHold(hold: Hold): HoldRow {
  return {
    id: hold.id,
    ledger_id: hold.ledgerId,
    key_id: hold.keyId,
    amount_micros: hold.amountMicros,
    day: hold.day,
    month: hold.month,
    daily_cap_micros: hold.dailyCapMicros,
    monthly_cap_micros: hold.monthlyCapMicros,
    owner: hold.owner,
    cost_at_once_micros: hold.likelyCost.atOnceMicros,
    cost_per_second_micros: hold.likelyCost.perSecondMicros,
    created_at_ms: hold.createdAtMs,
  };
}

export function holdOfRow(row: HoldRow): Hold {
  return {
    id: row.id,
    ledgerId: row.ledger_id as LedgerId,
    keyId: row.key_id,
    amountMicros: row.amount_micros,
    day: row.day,
    month: row.month,
    dailyCapMicros: row.daily_cap_micros,
    monthlyCapMicros: row.monthly_cap_micros,
    owner: row.owner,
    likelyCost: {
      atOnceMicros: row.cost_at_once_micros,
      perSecondMicros: row.cost_per_second_micros,
    },
    createdAtMs: row.created_at_ms,
  };
}

/** The body is base64, because each store has its own type for bytes. */
type ResponseRow = Omit<Selectable<IdempotentResponsesTable>, 'body'> & {
  readonly body: string | null;
};

export function rowOfResponse(response: StoredResponse): ResponseRow {
  return {
    key_id: response.keyId,
    key_digest: response.keyDigest,
    fingerprint: response.fingerprint,
    state: 'stored',
    owner: response.owner,
    request_id: response.requestId,
    status: response.status,
    content_type: response.contentType,
    headers: response.headers,
    body: response.body,
    stored_at_ms: response.storedAtMs,
    expires_at_ms: response.expiresAtMs,
    ...rowOfWorth(response.worth),
  };
}

/**
 * SQL for the body of a new answer, called `row`. It is null when the key's account no longer
 * stores answers, which may have changed after the request began.
 */
export const bodyIfRetained = `case when (select accounts.retain_responses
  from api_keys join accounts on accounts.id = api_keys.account_id where api_keys.id = row.key_id) = 1 then row.body end`;

/** Conflict clause of an insert: replaces the claim of the same request, but of no other. */
export const replaceOwnClaim = `on conflict (key_id, key_digest) do update set
  state = excluded.state, status = excluded.status, content_type = excluded.content_type, headers = excluded.headers,
  body = excluded.body, stored_at_ms = excluded.stored_at_ms, expires_at_ms = excluded.expires_at_ms,
  cost_micros = excluded.cost_micros, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens
where idempotent_responses.request_id = excluded.request_id`;

/** The body is base64, as in a response row. */
type CachedRow = Omit<Selectable<CachedResponsesTable>, 'body'> & { readonly body: string };

export function rowOfCached(cached: CachedResponse): CachedRow {
  return {
    account_id: cached.accountId,
    digest: cached.digest,
    generation: cached.generation,
    content_type: cached.contentType,
    headers: cached.headers,
    body: cached.body,
    size_bytes: cached.sizeBytes,
    created_at_ms: cached.createdAtMs,
    expires_at_ms: cached.expiresAtMs,
    ...rowOfWorth(cached.worth),
  };
}

function rowOfWorth({ costMicros, inputTokens, outputTokens }: AnswerWorth) {
  return { cost_micros: costMicros, input_tokens: inputTokens, output_tokens: outputTokens };
}

/**
 * Join condition for a new answer, called `row`: an account that was purged in the meantime, or
 * stores no answers, matches nothing.
 */
export const accountStoresAnswer = `accounts.id = row.account_id and accounts.cache_generation = row.generation
  and accounts.retain_responses = 1`;

/** Conflict clause of an insert: replaces an older answer to the same request. */
export const replaceOlderAnswer = `on conflict (account_id, digest) do update set
  generation = excluded.generation, content_type = excluded.content_type, headers = excluded.headers, body = excluded.body,
  size_bytes = excluded.size_bytes, created_at_ms = excluded.created_at_ms, expires_at_ms = excluded.expires_at_ms,
  cost_micros = excluded.cost_micros, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens`;

export function rowOfCharge(charge: Charge): ChargeRow {
  return {
    id: charge.id,
    ledger_id: charge.ledgerId,
    key_id: charge.keyId,
    model_id: charge.modelId,
    model_name: charge.modelName,
    endpoint: charge.endpoint,
    provider: charge.provider,
    input_tokens: charge.usage.inputTokens,
    cache_read_tokens: charge.usage.cacheReadTokens,
    cache_write_tokens: charge.usage.cacheWriteTokens,
    cache_write_1h_tokens: charge.usage.cacheWrite1hTokens,
    output_tokens: charge.usage.outputTokens,
    reasoning_tokens: charge.usage.reasoningTokens,
    web_searches: charge.webSearches,
    images: charge.images,
    usage_source: charge.usageSource,
    price_version: charge.priceVersion,
    price_id: charge.priceId,
    upstream_cost_micros: charge.upstreamCostMicros,
    ending: charge.ending,
    streamed: charge.streamed ? 1 : 0,
    cost_micros: charge.costMicros,
    loss_micros: charge.lossMicros,
    hold_micros: charge.holdMicros,
    attempts: charge.attempts,
    duration_ms: charge.durationMs,
    first_byte_ms: charge.firstByteMs,
    created_at_ms: charge.createdAtMs,
  };
}

export function chargeOfRow(row: ChargeRow): Charge {
  return {
    id: row.id,
    ledgerId: row.ledger_id as LedgerId,
    keyId: row.key_id,
    modelId: row.model_id,
    modelName: row.model_name,
    endpoint: row.endpoint,
    provider: row.provider,
    usage: {
      inputTokens: row.input_tokens,
      cacheReadTokens: row.cache_read_tokens,
      cacheWriteTokens: row.cache_write_tokens,
      cacheWrite1hTokens: row.cache_write_1h_tokens,
      outputTokens: row.output_tokens,
      reasoningTokens: row.reasoning_tokens,
    },
    webSearches: row.web_searches,
    images: row.images,
    usageSource: row.usage_source,
    priceVersion: row.price_version,
    priceId: row.price_id,
    upstreamCostMicros: row.upstream_cost_micros,
    ending: row.ending,
    streamed: row.streamed === 1,
    attempts: row.attempts,
    durationMs: row.duration_ms,
    firstByteMs: row.first_byte_ms,
    costMicros: row.cost_micros,
    lossMicros: row.loss_micros,
    holdMicros: row.hold_micros,
    createdAtMs: row.created_at_ms,
  };
}
