// The history of requests: charged ones from the ledger, the others from the account's activity,
// merged by time.
import { chargedEndpointAt } from '../../terms/charged-endpoints.ts';
import { documentationUrl, errorKinds, ApiError, type ErrorCode } from '../../canonical/errors.ts';
import { modes } from '../../terms/mode.ts';
import type { RequestDetail, requestEndpoints, RequestRecord } from '../contract/requests.ts';
import type { UsageDetail, UsageRecord } from '../contract/usage.ts';
import { findLogged, listUncharged, type LoggedRequest } from '../../domain/activity/queries.ts';
import { readKeyNames } from '../../domain/keys/manage-keys.ts';
import { upstreamModelIn } from '../../domain/catalog/catalog.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { reportCaches } from '../../domain/ledger/reports/cache-report.ts';
import {
  type ChargeOrder,
  listCharges,
  listTopCharges,
  readPriceTerms,
} from '../../domain/ledger/reports/queries.ts';
import { readTagsOf } from '../../domain/ledger/reports/tags.ts';
import type { UsageCursor } from '../../domain/ledger/reports/usage-cursor.ts';
import type { ManagementContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { mergeByTime, pageByTime, type TimePage } from '../paging.ts';
import { rangeOf } from './days.ts';
import { readRequestBodies } from './request-bodies.ts';
import { namesOfModels } from './model-names.ts';
import {
  chargeFilter,
  daysOf,
  type Filters,
  outcomeOf,
  unchargedFilter,
  wantsCharges,
  wantsUncharged,
} from './request-filters.ts';
import { sumRequests } from './request-totals.ts';
import { toDetail, toRecord } from './usage-records.ts';

/** The most charges of the hour before that explain what one request missed in the cache. */
const chargesMax = 2_000;
/** Rows of a list in another order than by time, which has one page. */
const sortedRows = 100;
const sortedDaysMax = 31;

export const requestHandlers: Handlers<typeof requestEndpoints> = {
  'GET /accounts/:account/requests': async ({ context, params, query, page }) => {
    const { sort, ...filters } = query;
    const asked = { accountId: params.account, filters };
    if (sort !== undefined)
      return { rows: await listSorted(context, { ...asked, sort }), next: null };
    return pageByTime(page, async ({ limit, cursor }) => {
      const { rows, next } = await listNewest(context, { ...asked, limit, cursor });
      return { rows: await withNames(context, params.account, rows), next };
    });
  },

  'GET /accounts/:account/requests/totals': ({ context, params, query }) =>
    sumRequests(context, params.account, query),

  'GET /accounts/:account/requests/:request': ({ context, params }) =>
    requireRequest(context, params),

  'GET /accounts/:account/requests/:request/bodies': async ({ context, params }) => {
    const request = await requireRequest(context, params);
    return readRequestBodies(context, { accountId: params.account, request });
  },
};

type Named = { readonly account: string; readonly request: string };

async function requireRequest(context: ManagementContext, { account, request }: Named) {
  const found = await findRequest(context, account, request);
  if (found) return found;
  throw new ApiError(
    'not_found',
    'There is no request with this id in this account, or it was not charged and its history was removed.',
  );
}

/** A row of the list before its names are known. */
type Row = ChargedRow | (Listed & { readonly logged: LoggedRequest });
type ChargedRow = Listed & { readonly charge: UsageRecord; readonly firstTokenMs: number | null };
type Listed = {
  readonly createdAtMs: number;
  readonly id: string;
  readonly keyId: string;
  readonly tags: readonly string[];
};

type ListQuery = { readonly accountId: string; readonly filters: Filters };

async function listNewest(
  { database: { read } }: ManagementContext,
  {
    accountId,
    filters,
    limit,
    cursor,
  }: ListQuery & { readonly limit: number; readonly cursor: UsageCursor | null },
): Promise<TimePage<Row>> {
  const range = rangeOf(filters);
  const page = { ledgerId: ledgerIdOf(accountId, filters.mode), limit, cursor };
  const charged = wantsCharges(filters)
    ? await listCharges(read, { ...page, ...chargeFilter(filters, range) })
    : null;
  const logged = unchargedFilter(accountId, filters, range);
  const uncharged = wantsUncharged(filters)
    ? await listUncharged(read, { ...logged, limit, after: cursor })
    : null;
  const tags = await readTagsOf(read, charged?.charges ?? []);
  const lists = [
    charged && { ...charged, rows: charged.charges.map((charge) => rowOfCharge(charge, tags)) },
    uncharged && { ...uncharged, rows: uncharged.rows.map(rowOfLogged) },
  ];
  return mergeByTime<Row>(
    lists.filter((list) => list !== null),
    limit,
  );
}

async function listSorted(
  context: ManagementContext,
  { accountId, filters, sort }: ListQuery & { readonly sort: ChargeOrder },
): Promise<readonly RequestRecord[]> {
  const days = daysOf(filters, context.gateway.clock.nowMs(), sortedDaysMax);
  const dated = { ...filters, ...days };
  const range = rangeOf(dated);
  const { read } = context.database;
  const charges = wantsCharges(dated)
    ? await listTopCharges(read, {
        ledgerId: ledgerIdOf(accountId, dated.mode),
        limit: sortedRows,
        order: sort,
        ...chargeFilter(dated, range),
      })
    : [];
  // Repeated and refused requests have no cost, and are answered at once.
  const tags = await readTagsOf(read, charges);
  const rows = charges.map((charge) => rowOfCharge(charge, tags));
  return withNames(context, accountId, rows);
}

/** By charge id. */
type Tags = ReadonlyMap<string, readonly string[]>;
type ListedCharge = Awaited<ReturnType<typeof listCharges>>['charges'][number];

function rowOfCharge(charge: ListedCharge, tags: Tags): Row {
  const { createdAtMs, id, keyId, firstByteMs } = charge;
  const shown = { charge: toRecord(charge, ''), firstTokenMs: firstByteMs };
  return { createdAtMs, id, keyId, tags: tags.get(id) ?? [], ...shown };
}

function rowOfLogged(logged: LoggedRequest): Row {
  const { createdAtMs, requestId, keyId, tags } = logged;
  return { createdAtMs, id: requestId, keyId, tags, logged };
}

async function withNames(
  { database, gateway }: ManagementContext,
  accountId: string,
  rows: readonly Row[],
): Promise<readonly RequestRecord[]> {
  const charged = rows.flatMap((row) => ('charge' in row ? [row.id] : []));
  const models = rows.flatMap((row) => ('logged' in row ? [row.logged.modelId] : []));
  const [keyNames, history] = await Promise.all([
    readKeyNames(database.read, [...new Set(rows.map(({ keyId }) => keyId))]),
    findLogged(database.read, { accountId, requestIds: charged }),
  ]);
  const modelNames = namesOfModels(gateway.hosts.catalog, [...new Set(models)]);
  return rows.map((row) => {
    const keyName = keyNames.get(row.keyId) ?? '';
    return 'charge' in row
      ? recordOfCharge(row, keyName, history.get(row.id))
      : recordOfLogged(row.logged, keyName, modelNames);
  });
}

function recordOfCharge(
  { charge, firstTokenMs, tags }: ChargedRow,
  keyName: string,
  logged: LoggedRequest | undefined,
): RequestRecord {
  const { mode: _, ...shown } = charge;
  return {
    ...shown,
    key: { id: charge.key.id, name: keyName },
    code: null,
    status: 200,
    saved_micros: 0,
    first_token_ms: firstTokenMs,
    finish: logged?.notes.finish ?? null,
    client: logged?.client ?? null,
    tags,
  };
}

function recordOfLogged(
  logged: LoggedRequest,
  keyName: string,
  modelNames: ReadonlyMap<string, string>,
): RequestRecord {
  const { modelId, code, path } = logged;
  return {
    request_id: logged.requestId,
    created_at: new Date(logged.createdAtMs).toISOString(),
    key: { id: logged.keyId, name: keyName },
    model: modelId === '' ? null : { id: modelId, name: modelNames.get(modelId) ?? modelId },
    endpoint: chargedEndpointAt(path)?.name ?? path,
    outcome: outcomeOf(logged.outcome),
    code,
    status: code === null ? 200 : errorKinds[knownCode(code)].status,
    streamed: logged.streamed,
    input_tokens: logged.inputTokens,
    output_tokens: logged.outputTokens,
    images: 0,
    web_searches: 0,
    cost_micros: 0,
    saved_micros: logged.savedMicros,
    duration_ms: logged.durationMs,
    first_token_ms: logged.firstByteMs,
    finish: logged.notes.finish ?? null,
    client: logged.client,
    tags: logged.tags,
  };
}

/** An older gateway may have stored a code that no longer exists. */
function knownCode(code: string): ErrorCode {
  return Object.hasOwn(errorKinds, code) ? (code as ErrorCode) : 'internal_error';
}

/** Returns a request of either mode; null: the account has none with this id. */
export async function findRequest(
  context: ManagementContext,
  accountId: string,
  requestId: string,
): Promise<RequestDetail | null> {
  const { database } = context;
  const [charge, logs] = await Promise.all([
    findCharge(context, accountId, requestId),
    findLogged(database.read, { accountId, requestIds: [requestId] }),
  ]);
  const logged = logs.get(requestId);
  const row: Row | null = charge?.row ?? (logged ? rowOfLogged(logged) : null);
  if (!row) return null;
  const [record] = await withNames(context, accountId, [row]);
  return {
    ...record!,
    mode: charge?.detail.mode ?? logged!.mode,
    charge: charge?.detail ?? null,
    error: logged?.code ? errorOf(context, logged, logged.code) : null,
    history: logged ? historyOf(logged) : null,
  };
}

function errorOf(
  { gateway }: ManagementContext,
  { notes }: LoggedRequest,
  code: string,
): NonNullable<RequestDetail['error']> {
  const known = knownCode(code);
  const { meaning, remedy } = errorKinds[known];
  const publicUrl = gateway.config.server.public_url;
  return {
    code,
    meaning,
    remedy,
    message: notes.errorMessage ?? null,
    param: notes.errorParam ?? null,
    documentation_url: documentationUrl(known, { requestId: '', publicUrl }),
  };
}

function historyOf({ notes }: LoggedRequest): NonNullable<RequestDetail['history']> {
  return {
    asked_model: notes.askedModel ?? null,
    address: notes.address ?? null,
    trace_id: notes.traceId ?? null,
    client_gone: notes.isClientGone ?? false,
    tries: notes.tries ?? [],
  };
}

async function findCharge(
  { database, gateway }: ManagementContext,
  accountId: string,
  requestId: string,
): Promise<{ readonly row: Row; readonly detail: UsageDetail } | null> {
  for (const mode of modes) {
    const query = {
      ledgerId: ledgerIdOf(accountId, mode),
      limit: 1,
      cursor: null,
      holdId: requestId,
    };
    const [charge] = (await listCharges(database.read, query)).charges;
    if (!charge) continue;
    const { createdAtMs: fromMs, keyId } = charge;
    const caches = { ledgerIds: [query.ledgerId], fromMs, toMs: fromMs + 1, by: 'key' } as const;
    const upstreamModelOf = upstreamModelIn(gateway.hosts.catalog);
    const [names, tags, terms, { total }] = await Promise.all([
      readKeyNames(database.read, [keyId]),
      readTagsOf(database.read, [charge]),
      charge.priceId === null ? null : readPriceTerms(database.read, charge.priceId),
      reportCaches(database.read, { ...caches, holdId: requestId, chargesMax, upstreamModelOf }),
    ]);
    const keyName = names.get(keyId) ?? '';
    const cacheMiss = total.missed[0] ?? null;
    return {
      row: rowOfCharge(charge, tags),
      detail: toDetail(charge, { keyName, terms, cacheMiss }),
    };
  }
  return null;
}
