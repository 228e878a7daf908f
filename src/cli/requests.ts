// `tollgate requests show`: what became of one request of any account.
import { errorKinds } from '../canonical/errors.ts';
import { totalInputTokens } from '../canonical/usage.ts';
import type { Config } from '../config/schema.ts';
import type { Db } from '../db/schema.ts';
import { findAccounts } from '../domain/accounts/manage-accounts.ts';
import { findAccountOf, findLogged } from '../domain/activity/queries.ts';
import { upstreamModelIn } from '../domain/catalog/catalog.ts';
import { loadCatalog } from '../domain/catalog/load-catalog.ts';
import { readKeyNames } from '../domain/keys/manage-keys.ts';
import type { Charge } from '../domain/ledger/book.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { reportCaches } from '../domain/ledger/reports/cache-report.ts';
import { listCharges } from '../domain/ledger/reports/queries.ts';
import { chargedEndpointAt } from '../terms/charged-endpoints.ts';
import { readTagsOf } from '../domain/ledger/reports/tags.ts';
import { modes } from '../terms/mode.ts';
import type { Installation } from './installation.ts';
import { CommandFailed, formatTable, type Output } from './output.ts';
import { tokensOf } from '../domain/ledger/reports/queries.ts';

export async function showRequestCommand(
  { database, config }: Installation,
  id: string,
): Promise<Output> {
  const { read } = database;
  const accountId = await findAccountOf(read, id);
  if (accountId === null)
    throw new CommandFailed(
      `there is no request ${id}, or it was not charged and its history was removed`,
    );
  const [account] = await findAccounts(database.read, [accountId]);
  const logged = (await findLogged(read, { accountId, requestIds: [id] })).get(id) ?? null;
  const pages = await Promise.all(
    modes.map((mode) => {
      const query = { ledgerId: ledgerIdOf(accountId, mode), limit: 1, cursor: null };
      return listCharges(read, { ...query, holdId: id });
    }),
  );
  const at = pages.findIndex(({ charges }) => charges.length > 0);
  const charge = pages[at]?.charges[0] ?? null;
  const known = charge ?? logged;
  if (!known) throw new CommandFailed(`the request ${id} still runs, or was never answered`);
  const keyNames = await readKeyNames(database.read, [known.keyId]);
  const tags = charge ? ((await readTagsOf(read, [charge])).get(id) ?? []) : (logged?.tags ?? []);
  const code = logged?.code ?? null;
  const notes = logged?.notes ?? {};
  const outcome = charge ? charge.ending : logged!.outcome;
  const shown = {
    request_id: id,
    created_at: new Date(known.createdAtMs).toISOString(),
    account: { id: accountId, name: account?.name ?? '' },
    key: { id: known.keyId, name: keyNames.get(known.keyId) ?? '' },
    mode: logged?.mode ?? modes[at]!,
    model: known.modelId || null,
    asked_model: notes.askedModel ?? null,
    endpoint: charge?.endpoint ?? chargedEndpointAt(logged!.path)?.name ?? logged!.path,
    streamed: known.streamed,
    outcome: repeats[outcome] ?? outcome,
    finish: notes.finish ?? null,
    error: code,
    message: notes.errorMessage ?? null,
    param: notes.errorParam ?? null,
    provider: charge?.provider ?? null,
    attempts: charge?.attempts ?? null,
    input_tokens: charge ? totalInputTokens(charge.usage) : logged!.inputTokens,
    output_tokens: (charge?.usage ?? logged!).outputTokens,
    tokens: charge && tokensOf(charge.usage),
    tokens_counted_by: charge && (charge.usageSource === 'upstream' ? 'provider' : 'gateway'),
    images: charge?.images ?? 0,
    web_searches: charge?.webSearches ?? 0,
    price_version: charge?.priceVersion ?? null,
    charged_micros: charge?.costMicros ?? 0,
    cost_micros: charge?.upstreamCostMicros ?? 0,
    hold_micros: charge?.holdMicros ?? null,
    loss_micros: charge?.lossMicros ?? 0,
    saved_micros: logged?.savedMicros ?? 0,
    cache_miss: charge && (await findCacheMiss(config, read, charge)),
    duration_ms: known.durationMs,
    first_token_ms: known.firstByteMs,
    tags,
    address: notes.address ?? null,
    client: logged?.client ?? null,
    trace_id: notes.traceId ?? null,
    client_gone: notes.isClientGone ?? false,
    tries: notes.tries ?? [],
  };
  const remedies = errorKinds as Readonly<Record<string, { readonly remedy: string }>>;
  const remedy = code === null ? null : (remedies[code]?.remedy ?? null);
  const facts = Object.entries({ ...shown, remedy }).filter(([, value]) => value !== null);
  const rows = facts.map(([name, value]) => [
    name.replaceAll('_', ' '),
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return [shown, formatTable(['field', 'value'], rows)];
}

/** As the dashboard names them. */
const repeats: Readonly<Record<string, string>> = {
  hit: 'cached',
  'idempotent-replay': 'replayed',
};

/** Charges of the hour before that explain what one request missed in the cache. */
const chargesMax = 2_000;

async function findCacheMiss(config: Config, read: Db, charge: Charge) {
  const { id: holdId, ledgerId, createdAtMs: fromMs } = charge;
  const upstreamModelOf = upstreamModelIn(loadCatalog(config));
  const asked = { ledgerIds: [ledgerId], fromMs, toMs: fromMs + 1, by: 'key', holdId } as const;
  const { total } = await reportCaches(read, { ...asked, chargesMax, upstreamModelOf });
  return total.missed[0] ?? null;
}
