// Compares our catalogue with another price list: agreements, models missing from the list, and
// differences to review.
import type { ServiceTier } from '../../../canonical/service-tier.ts';
import { pricesOf, type ModelEntry, type TokenPricesEntry } from '../../../config/model-schema.ts';
import { tokenBuckets } from '../read-prices.ts';
import {
  unitPrices,
  type Bucket,
  type PriceSource,
  type StatedModel,
  type StatedPrices,
  type StatedTier,
} from './source.ts';
import { dayOf } from '../../../lib/utc-time.ts';
import { withoutUndefined } from '../../../lib/without-undefined.ts';

export type Proposal = {
  /** The UTC day of the comparison, `YYYY-MM-DD`. */
  readonly date: string;
  readonly model: string;
  /** As in our catalogue; a tier's price as `tiers[200000].input`. */
  readonly field: string;
  /** USD per million tokens, a token limit, or a capability; null when missing. */
  readonly ours: number | boolean | string | null;
  readonly theirs: number | boolean | string | null;
  readonly source: PriceSource['name'];
};

export type Comparison = {
  /** Models whose prices agree with the list. */
  readonly agree: readonly string[];
  /** Models without a price in the list. */
  readonly absent: readonly string[];
  readonly proposals: readonly Proposal[];
};

type Compared = ModelEntry & { readonly id: string };
type Difference = Pick<Proposal, 'field' | 'ours' | 'theirs'>;

/** Compares each model by its first route, whose prices the catalogue contains. */
export function compareWithSource(
  models: readonly Compared[],
  source: PriceSource,
  { nowMs }: { readonly nowMs: number },
): Comparison {
  const date = dayOf(nowMs);
  const compared = models.map((model) => {
    const [route] = model.routes ?? [];
    const stated = route ? source.find(route) : null;
    if (!stated || !isPriced(model, stated, nowMs)) return { id: model.id, prices: null, rest: [] };
    return {
      id: model.id,
      prices: comparePrices(model, stated, nowMs),
      rest: [
        ...compareLimits(model, stated),
        ...compareAbilities(model, stated),
        ...compareLastDay(model, stated),
      ],
    };
  });
  return {
    agree: compared.filter(({ prices }) => prices?.length === 0).map(({ id }) => id),
    absent: compared.filter(({ prices }) => prices === null).map(({ id }) => id),
    proposals: [...compared, ...newModels(models, source, date)].flatMap(({ id, prices, rest }) =>
      [...(prices ?? []), ...rest].map((difference) => ({
        date,
        model: id,
        ...difference,
        source: source.name,
      })),
    ),
  };
}

/** Only a model that writes has a price of output. */
function isPriced(model: Compared, { base, units }: StatedModel, nowMs: number): boolean {
  const unit = unitOf(model, nowMs);
  if (unit) return units?.[unit] !== undefined;
  return base.input !== undefined && (base.output !== undefined || !writes(model));
}

/** The prices of the list that the model is charged by. */
function chargedOf(model: Compared, { base }: StatedModel): StatedPrices {
  const { output, audio, ...read } = base;
  if (!writes(model)) return read;
  if (model.type !== 'transcription') return base;
  return withoutUndefined({ ...read, input: audio ?? read.input, output });
}

function writes({ type }: Compared): boolean {
  return type !== 'embedding' && type !== 'rerank';
}

function unitOf(model: Compared, nowMs: number) {
  const price = priceNow(model, nowMs);
  return unitPrices.find((unit) => price?.[unit] !== undefined);
}

/** Returns the list's models at our providers that we lack, as `provider/id` with their prices. */
function newModels(models: readonly Compared[], source: PriceSource, today: string) {
  const routes = models.flatMap(({ routes: [route] = [] }) => (route ? [route] : []));
  const known = new Set(routes.map(({ provider, model }) => `${provider}/${model}`));
  return [...new Set(routes.map(({ provider }) => provider))].flatMap((provider) =>
    source.list(provider).flatMap((model) => {
      const stated = source.find({ provider, model });
      const { base = {}, retiresAt = '9999' } = stated ?? {};
      const isOffered = base.input !== undefined && base.output !== undefined && retiresAt > today;
      const id = `${provider}/${model}`;
      return !isOffered || known.has(id) || otherName.test(id)
        ? []
        : [{ id, prices: compareBuckets(undefined, base, ''), rest: [] }];
    }),
  );
}

/** Names that mean another model: with a date, fine-tuned, or moving. */
const otherName = /-(?:20\d{2}-?\d{2}-?\d{2}|latest)$|\/ft:/;

function comparePrices(model: Compared, stated: StatedModel, nowMs: number): Difference[] {
  const ours = priceNow(model, nowMs);
  if (ours === undefined) return compareBuckets(undefined, stated.base, '');
  const unit = unitOf(model, nowMs);
  if (unit) {
    const [own, theirs] = [ours[unit]!, stated.units![unit]!];
    // Lists round prices of seconds.
    return Math.abs(own - theirs) <= 0.001 * own ? [] : [{ field: unit, ours: own, theirs }];
  }
  return [
    ...compareBuckets(ours, chargedOf(model, stated), ''),
    ...compareTiers(ours.tiers ?? [], stated.tiers),
    ...Object.entries(stated.variants ?? {}).flatMap(([name, theirs]) => {
      const own = name === 'off_peak' ? ours.hours?.[0] : ours.service_tiers?.[name as ServiceTier];
      const field = name === 'off_peak' ? 'hours[0]' : `service_tiers.${name}`;
      return compareBuckets(own, theirs, `${field}.`);
    }),
  ];
}

function priceNow(model: Compared, nowMs: number) {
  const started = pricesOf(model).filter(
    ({ effective_from: from }) => from === undefined || Date.parse(from) <= nowMs,
  );
  const startOf = ({ effective_from: from }: { effective_from?: string }) =>
    from === undefined ? 0 : Date.parse(from);
  return started.toSorted((one, other) => startOf(other) - startOf(one))[0];
}

/**
 * Compares prices. Those missing from the list are skipped; those missing from our entry have their
 * default.
 */
function compareBuckets(
  ours: TokenPricesEntry | undefined,
  theirs: StatedPrices,
  prefix: string,
): Difference[] {
  return tokenBuckets.flatMap((bucket) => {
    const [own, other] = [ours === undefined ? null : charged(ours, bucket), theirs[bucket]];
    return other === undefined || own === other
      ? []
      : [{ field: `${prefix}${bucket}`, ours: own, theirs: other }];
  });
}

/** Returns the price that is charged, with the defaults of read-prices.ts. */
function charged(prices: TokenPricesEntry, bucket: Bucket): number {
  const { input, cache_write: write = input } = prices;
  return prices[bucket] ?? (bucket === 'cache_write_1h' ? Math.max(2 * input, write) : input);
}

function compareTiers(
  ours: readonly (TokenPricesEntry & { above_input_tokens: number })[],
  theirs: readonly StatedTier[],
): Difference[] {
  const found = (tiers: readonly { above_input_tokens: number }[], above: number) =>
    tiers.some((tier) => isSameThreshold(tier.above_input_tokens, above));
  const missing = ours
    .filter(({ above_input_tokens: above }) => !found(theirs, above))
    .map(({ above_input_tokens: above, input }) => ({
      field: `tiers[${above}].input`,
      ours: input,
      theirs: null,
    }));
  const compared = theirs.flatMap((tier) => {
    const own = ours.find(({ above_input_tokens: above }) =>
      isSameThreshold(above, tier.above_input_tokens),
    );
    return compareBuckets(
      own,
      tier,
      `tiers[${own?.above_input_tokens ?? tier.above_input_tokens}].`,
    );
  });
  return [...missing, ...compared];
}

/**
 * Lists write the same threshold as 271,999 or 272,000, depending on whether 272,000 itself exceeds
 * it.
 */
function isSameThreshold(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1;
}

function compareLimits(
  model: Compared,
  { contextTokens, maxOutputTokens }: StatedModel,
): Difference[] {
  const {
    context_tokens: context = 0,
    max_input_tokens: input = 0,
    max_output_tokens: output,
  } = model;
  const contexts = [context, input, context - (output ?? 0)];
  return [
    ...(contextTokens === undefined || contexts.some((own) => isSameLimit(own, contextTokens))
      ? []
      : [{ field: 'context_tokens', ours: context, theirs: contextTokens }]),
    ...(maxOutputTokens === undefined ||
    output === undefined ||
    isSameLimit(output, maxOutputTokens)
      ? []
      : [{ field: 'max_output_tokens', ours: output, theirs: maxOutputTokens }]),
  ];
}

/** Lists round limits: 1,000,000 for 1,048,576, and 128,000 for 131,072. */
function isSameLimit(one: number, other: number): boolean {
  return Math.abs(one - other) <= 0.05 * Math.max(one, other);
}

function compareLastDay(
  { retires_at: ours }: Compared,
  { retiresAt: theirs }: StatedModel,
): Difference[] {
  return theirs === undefined || theirs === ours
    ? []
    : [{ field: 'retires_at', ours: ours ?? null, theirs }];
}

function compareAbilities({ supports = {} }: Compared, stated: StatedModel): Difference[] {
  return Object.entries(stated.supports).flatMap(([ability, theirs]) => {
    const ours = { audio: false, ...supports }[ability as keyof StatedModel['supports']];
    return ours === undefined || ours === theirs
      ? []
      : [{ field: `supports.${ability}`, ours, theirs }];
  });
}
