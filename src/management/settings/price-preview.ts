// What other prices would have charged for the last week's requests, request by request.
import type { Config } from '../../config/schema.ts';
import { setImmediate } from 'node:timers/promises';
import { readAskedTier } from '../../canonical/service-tier.ts';
import { loadCatalog } from '../../domain/catalog/load-catalog.ts';
import { isOwnKeyVersion, listPricePpm, priceFor, priceUsage } from '../../domain/catalog/price.ts';
import { readMultipliers } from '../../domain/accounts/manage-accounts.ts';
import { accountIdOf } from '../../domain/ledger/commands.ts';
import { readChargesForPrices } from '../../domain/ledger/reports/charges-for-prices.ts';
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
  const charges = await readChargesForPrices(database.read, { fromMs: weekMs, max: requestsMax });
  const multipliers = await readMultipliers(database.read);
  const models = new Map(
    loadCatalog(config)
      .list()
      .map((model) => [model.id, model]),
  );
  const sums = new Map<string, ReturnType<typeof noSum>>();
  let leftOut = 0;
  for (const [index, charge] of charges.entries()) {
    // Requests go on meanwhile.
    if (index % 1_000 === 999) await setImmediate();
    // Charges are written about when the answer ends.
    const { modelId, createdAtMs: nowMs, usage } = charge;
    const model = models.get(modelId);
    const own = multipliers.get(accountIdOf(charge.ledgerId));
    const multiplierPpm = own?.models.get(modelId) ?? own?.usualPpm ?? listPricePpm;
    const price =
      model && priceFor(model, { markup: config.pricing.markup, multiplierPpm, nowMs: toMs });
    if (!price || isOwnKeyVersion(charge.priceVersion)) {
      leftOut += 1;
      continue;
    }
    // The version names the tier that was charged: `2026-11-01/flex`.
    const { tier } = readAskedTier(/\/(\w+)/u.exec(charge.priceVersion)?.[1]);
    const allowed = { tier, fromMs: nowMs, untilMs: nowMs };
    const would = priceUsage({ ...price, allowed }, { usage: { ...usage, tier }, nowMs });
    const sum = sums.get(modelId) ?? noSum();
    sum.requests += 1;
    sum.charged_micros += charge.costMicros;
    sum.would_charge_micros += would.costMicros;
    sum.cost_micros += charge.upstreamCostMicros;
    sum.would_cost_micros += would.upstreamCostMicros;
    sums.set(modelId, sum);
  }
  const oldestMs = charges.at(-1)?.createdAtMs ?? weekMs;
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
