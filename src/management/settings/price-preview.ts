// What other prices would have charged for the last week's requests, request by request.
import type { Config } from '../../config/schema.ts';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { readAskedTier } from '../../canonical/service-tier.ts';
import { totalInputTokens } from '../../canonical/usage.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { loadCatalog } from '../../domain/catalog/load-catalog.ts';
import type { Model } from '../../domain/catalog/model.ts';
import {
  type AppliedPrice,
  atCost,
  batchPrice,
  hasSound,
  isOwnKeyVersion,
  listPricePpm,
  priceFor,
  type PriceFactor,
  priceUsage,
  scaleByFactor,
} from '../../domain/catalog/price.ts';
import { readMultipliers } from '../../domain/accounts/manage-accounts.ts';
import { accountIdOf } from '../../domain/ledger/commands.ts';
import type { Charge } from '../../domain/ledger/book.ts';
import {
  type PricedCharge,
  readChargesForPrices,
} from '../../domain/ledger/reports/charges-for-prices.ts';
import { type Micros, picosFromUsd } from '../../lib/money.ts';
import { costOf, noPrices, type PriceTerms } from '../../terms/price-terms.ts';
import { searchModelId } from '../../terms/web-search.ts';
import { dayMs } from '../../lib/utc-time.ts';
import type { ManagementContext } from '../context.ts';
import type { PricePreview } from '../contract/settings.ts';

/** The newest are counted; the answer's `from` tells when the oldest of them was. */
const requestsMax = 20_000;

export async function previewPrices(
  { database, gateway }: ManagementContext,
  config: Config,
): Promise<PricePreview> {
  const toMs = gateway.clock.nowMs();
  const weekMs = toMs - 7 * dayMs;
  const charges = await readChargesForPrices(database.read, {
    fromMs: weekMs,
    toMs,
    max: requestsMax,
  });
  const multipliers = await readMultipliers(database.read);
  const now = { config: gateway.config, catalog: gateway.hosts.catalog };
  const next = { config, catalog: loadCatalog(config) };
  const sums = new Map<string, ReturnType<typeof noSum>>();
  let leftOut = 0;
  for (const [index, priced] of charges.entries()) {
    // Requests go on meanwhile.
    if (index % 1_000 === 999) await setImmediate();
    const { charge } = priced;
    const { modelId } = charge;
    const own = multipliers.get(accountIdOf(charge.ledgerId));
    const multiplierPpm = own?.models.get(modelId) ?? own?.usualPpm ?? listPricePpm;
    const would = priceAgain({ now, next, toMs, multiplierPpm }, priced);
    if (!would) {
      leftOut += 1;
      continue;
    }
    const sum = sums.get(modelId) ?? noSum();
    sum.requests += 1;
    sum.charged_micros += charge.costMicros;
    // The part of the cost that the account could not pay is left out of the new cost too.
    const lostPart = charge.lossMicros / Math.max(charge.costMicros + charge.lossMicros, 1);
    sum.would_charge_micros += Math.round(would.costMicros * (1 - lostPart));
    sum.cost_micros += charge.upstreamCostMicros;
    sum.would_cost_micros += would.upstreamCostMicros;
    sums.set(modelId, sum);
  }
  const oldestMs = charges.at(-1)?.charge.createdAtMs ?? weekMs;
  return {
    from: new Date(charges.length < requestsMax ? weekMs : oldestMs).toISOString(),
    to: new Date(toMs).toISOString(),
    requests: charges.length,
    left_out: leftOut,
    data: [...sums]
      .filter(
        ([, sum]) =>
          sum.charged_micros !== sum.would_charge_micros ||
          sum.cost_micros !== sum.would_cost_micros,
      )
      .map(([model, sum]) => ({ model, ...sum }))
      .toSorted((one, other) => other.charged_micros - one.charged_micros),
  };
}

function noSum() {
  return {
    requests: 0,
    charged_micros: 0,
    would_charge_micros: 0,
    cost_micros: 0,
    would_cost_micros: 0,
  };
}

type Priced = { readonly config: Config; readonly catalog: Catalog };
type Again = {
  readonly now: Priced;
  readonly next: Priced;
  readonly toMs: number;
  readonly multiplierPpm: number;
};
type Costs = { readonly costMicros: Micros; readonly upstreamCostMicros: Micros };

/** Returns null for a charge that says too little to be priced again. */
function priceAgain(again: Again, { charge, terms }: PricedCharge): Costs | null {
  const { config, catalog } = again.next;
  const { modelId, usage, createdAtMs: nowMs, webSearches, priceVersion } = charge;
  // The books do not have how much of the input was sound.
  if (isOwnKeyVersion(priceVersion) || hasSound(priceVersion)) return null;
  const factor = { markup: config.pricing.markup, multiplierPpm: again.multiplierPpm };
  const model = catalog.resolve(modelId);
  const price = model && priceFor(model, { ...factor, nowMs: previewedAtMs(again, model) });
  if (!price || price.list.unit !== undefined || charge.images > 0) {
    const kept = terms();
    const changed = kept && changeTerms(again, { charge, kept, factor });
    if (!changed) return null;
    const cost = (side: keyof PriceTerms) =>
      costOf(changed[side], { usage, searches: webSearches, images: charge.images });
    return { costMicros: cost('list'), upstreamCostMicros: cost('upstream') };
  }
  const search = webSearches === 0 ? {} : searchAgain(again, { model, kept: terms(), factor });
  if (!search) return null;
  // The version names the tier that was charged: `2026-11-01/flex`.
  const [, named] = /\/(\w+)/u.exec(priceVersion) ?? [];
  const asked = named === 'batch' ? batchPrice(price) : price;
  // The books name the provider of a charge, not its route.
  const routes = catalog.liveRoutes(model).filter(({ provider }) => provider === charge.provider);
  const [costPpm = listPricePpm, ...others] = new Set(routes.map((route) => route.costPpm));
  if (!asked || others.length > 0) return null;
  const { tier } = readAskedTier(named);
  // Charges are written about when the answer ends.
  const allowed = { tier, fromMs: nowMs, untilMs: nowMs };
  const run = { usage: { ...usage, tier }, searches: webSearches, nowMs };
  return priceUsage({ ...atCost(asked, costPpm), ...search, allowed }, run);
}

/** A price for later that is new is previewed as if it had begun. */
function previewedAtMs({ now, toMs }: Again, { id, prices }: Model): number {
  const before = now.catalog.resolve(id)?.prices ?? [];
  const added = prices.find((price) => !before.some((old) => isDeepStrictEqual(old, price)));
  return Math.max(toMs, added?.effectiveFromMs ?? toMs);
}

/** Returns the price of a search within an answer; null when another one is saved for it. */
function searchAgain(
  { now, next }: Again,
  asked: {
    readonly model: Model;
    readonly kept: PriceTerms | null;
    readonly factor: PriceFactor;
  },
): Pick<AppliedPrice, 'search'> | null {
  const { model, kept, factor } = asked;
  const statedIn = ({ catalog, config }: Priced) => [
    ...Object.values(catalog.resolve(model.id)?.toolPrices ?? {}),
    config.search.price_usd,
  ];
  const stated = statedIn(next);
  if (!kept || !isDeepStrictEqual(stated, statedIn(now))) return null;
  const { list, upstream } = kept;
  const isKept = upstream.search === 0n || stated.some((usd) => usd !== undefined);
  const listPicos = isKept
    ? list.search
    : scaleByFactor(upstream.search, factor, { isListPrice: false });
  return { search: { listPicos, upstreamPicos: upstream.search } };
}

/**
 * Changes the price that was kept with a charge for other things than tokens. What the provider billed
 * for an image or a search stays, as it depends on what the books do not have, such as a size: so null
 * when the model's own price is changed, and for answers that had images beside their tokens.
 */
function changeTerms(
  again: Again,
  asked: { readonly charge: Charge; readonly kept: PriceTerms; readonly factor: PriceFactor },
): PriceTerms | null {
  const { now, next, toMs } = again;
  const { charge, kept, factor } = asked;
  const { modelId, usage } = charge;
  if (totalInputTokens(usage) + usage.outputTokens > 0) return null;
  const { list, upstream } = kept;
  if (modelId === searchModelId) {
    const stated = next.config.search.price_usd;
    if (stated === null || (stated === undefined && upstream.search === 0n)) return null;
    const base = stated === undefined ? upstream.search : picosFromUsd(stated);
    const search = scaleByFactor(base, factor, { isListPrice: stated !== undefined });
    return { list: { ...noPrices, search }, upstream };
  }
  const image = next.catalog.images.resolve(modelId);
  if (image?.price) {
    const { price } = image;
    if (!isDeepStrictEqual(price, now.catalog.images.resolve(modelId)?.price)) return null;
    const scale = (picos: bigint) => scaleByFactor(picos, factor, price);
    const scaled = { image: scale(upstream.image), request: scale(upstream.request) };
    return { list: { ...noPrices, ...scaled }, upstream };
  }
  const unitsOf = ({ config, catalog }: Priced) => {
    const model = catalog.resolve(modelId);
    const { markup } = config.pricing;
    const nowMs = model && catalog === next.catalog ? previewedAtMs(again, model) : toMs;
    return model && priceFor(model, { ...factor, markup, nowMs });
  };
  const [before, after] = [unitsOf(now), unitsOf(next)];
  const [one, cost] = [before?.list.unit, before?.upstream.unit];
  // Another remainder than 0: the price was another one then.
  if (!one || !cost || after?.list.unit === undefined || list.request % one !== 0n) return null;
  return {
    list: { ...noPrices, request: (list.request / one) * after.list.unit },
    upstream: { ...noPrices, request: (upstream.request * after.upstream.unit!) / cost },
  };
}
