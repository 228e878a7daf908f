// Sells by the unit: images, searches, input tokens, characters and the like. The most that all units can
// cost is held, delivered units are charged at their actual price, and failures are free.
import type { ApiError } from '../../canonical/errors.ts';
import { costOf, freePrice, noPrices, type UnitPrices } from '../../terms/price-terms.ts';
import { noUsage, type Usage } from '../../canonical/usage.ts';
import type { Prompt } from '../../domain/telemetry/content.ts';
import { clientFormats } from '../../formats/registry.ts';
import type { JsonObject } from '../../lib/json.ts';
import {
  picosPerMicro,
  roundUpToMicro,
  usdFromMicros,
  zeroMicros,
  type Micros,
  type Picos,
} from '../../lib/money.ts';
import { formatSse } from '../../lib/sse.ts';
import { chargeHeaders, errorContextOf, sendWhole } from '../answering/head.ts';
import type { Output } from '../answering/output.ts';
import { endingOf } from '../audience.ts';
import { holdRefused } from '../charging/hold-refusal.ts';
import type { Offer, Outcome } from '../charging/offer.ts';
import type { Bill, Charge } from '../charging/open-hold.ts';
import type { Headers } from '../client.ts';
import { elapsedMs } from '../request.ts';
import type { Accepted, HeldRequest, Sale } from '../stages.ts';

type Unit = {
  readonly one: string;
  readonly many: string;
  /** The quantity that the books count; null: they have the price only. */
  readonly counted: 'image' | 'search' | null;
};

export type UnitsForSale = {
  /** Its name in usage records. */
  readonly endpoint: string;
  readonly modelName: string;
  readonly unit: Unit;
  readonly count: number;
  /** The highest price that may be charged; it is held. */
  readonly most: UnitPrice;
  /** What the operator probably pays in total: the loss if the process is killed. */
  readonly likelyPicos: Picos;
  /** The field with which the client can ask for fewer; null: only one unit can be asked for. */
  readonly countField: string | null;
};

/** `list`: the account pays it. `upstream`: the operator pays it. */
type Price = { readonly listPicos: Picos; readonly upstreamPicos: Picos };

/** The price of a unit, and of the request and its tokens in addition to its units. */
export type UnitPrice = Price & {
  readonly request?: Price;
  readonly tokens?: SoldTokens;
  /** Stored with the charge; left out: it has one price. */
  readonly version?: string;
};

type SoldTokens = Readonly<Record<'list' | 'upstream', Pick<UnitPrices, 'input' | 'output'>>> & {
  readonly count: Pick<Usage, 'inputTokens' | 'outputTokens'>;
};

export type Delivery = (Delivered | FailedDelivery) & {
  /** What the operator pays for units that may have been made and that nobody gets. */
  readonly lostPicos: Picos;
  /**
   * Units that the account could spoil: beyond its loss budget it pays for them; left out: none.
   */
  readonly spoiled?: Spoiled;
  /** Left out: the client has got nothing yet. */
  readonly begun?: BegunStream;
};

type BegunStream = {
  readonly output: Output;
  readonly isEvents: boolean;
  /** Writes the last frame, with the cost in USD. null: the answer is incomplete, so the stream is cut. */
  readonly lastFrame: ((costUsd: number) => string) | null;
};

type FailedDelivery = { readonly kind: 'failed'; readonly error: ApiError };

type Delivered = {
  readonly kind: 'delivered';
  /** Left out: it is a stream that has begun. A text needs a `contentType`. */
  readonly body?: JsonObject | string;
  readonly contentType?: string;
  readonly count: number;
  readonly price: UnitPrice;
  /** The provider counted nothing, so the count is ours; left out: it did. */
  readonly isEstimate?: boolean;
  readonly provider: string;
  /** Number of calls to providers. */
  readonly calls: number;
  /** Cacheable: complete and from the primary route. */
  readonly isWhole: boolean;
  /** Headers that are part of the answer and stored with it. */
  readonly headers: Headers;
  /** null: for ever. */
  readonly usableForMs: number | null;
};

/** `picos`: at the operator's cost. `calls`: of the whole request. */
type Spoiled = Pick<Delivered, 'provider' | 'calls'> & { readonly picos: Picos };

type UnitsOffer = {
  readonly units: UnitsForSale;
  /**
   * Once the run's `waiting` is aborted, starts nothing new. A provider completes and bills what it was
   * asked for, even when the client has left; that is waited for and charged, unless `running` is
   * aborted.
   */
  readonly deliver: (held: HeldRequest) => Promise<Delivery>;
} & Pick<Offer, 'hasRun' | 'firstCall'>;

export type UnitsAsked = Pick<Sale, 'modelId' | 'provider' | 'route' | 'headers' | 'body'> & {
  /** For traces. */
  readonly prompt: () => string;
  /** Tokens that it will probably use of its key's limit a minute; left out: none. */
  readonly tokens?: number;
  /** As in `Estimate`. */
  readonly answerBytes?: number;
  /** True when the cache is used unless a header says otherwise; left out: false. */
  readonly isCachedUnasked?: boolean;
  /** For an answer in events: the frames of an error. Left out: it never has events. */
  readonly writeFailure?: (error: ApiError) => string;
};

/**
 * Returns the sale of an endpoint that sells units. `offerTo` returns what is sold and the function
 * that delivers it.
 */
export function saleOfUnits(
  { prompt, tokens = 0, answerBytes = 0, isCachedUnasked = false, ...facts }: UnitsAsked,
  offerTo: (accepted: Accepted) => UnitsOffer,
): Sale {
  return {
    ...facts,
    content: { asked: () => promptOnly(prompt()), answerFormat: null },
    stream: facts.writeFailure !== undefined,
    isCachedUnasked,
    estimate: () => ({
      tokens,
      answerBytes,
      offer: (accepted) => offerUnits(accepted, offerTo(accepted)),
    }),
  };
}

/** A text as the prompt of a trace. */
export function promptOnly(text: string): Prompt {
  return { system: [], messages: [{ role: 'user', content: [{ type: 'text', text }] }] };
}

function offerUnits(accepted: Accepted, { units, deliver, ...batch }: UnitsOffer): Offer {
  const { costMicros: amountMicros } = priceOf(units, units.most, units.count);
  const atOnceMicros = roundUpToMicro(units.likelyPicos);
  return {
    amountMicros,
    likelyCost: { atOnceMicros, perSecondMicros: zeroMicros },
    mayOutlast: false,
    smaller: () => null,
    refuse(refused) {
      const affordable = affordableUnits(units, refused.affordableMicros);
      const { one, many } = units.unit;
      const { countField } = units;
      const fewer = countField === null ? '' : `: send \`${countField}\` of at most that`;
      return holdRefused(refused, {
        amountMicros,
        nowMs: accepted.gateway.clock.nowMs(),
        costPart: '',
        fitsPart:
          affordable === 0
            ? ` Not even one ${one} would fit.`
            : ` Up to ${affordable} ${affordable === 1 ? one : many} would fit${fewer}.`,
        details: { [`affordable_${many.replaceAll(' ', '_')}`]: affordable },
      });
    },
    runsToEnd: false,
    ...batch,
    async call(running) {
      const held = { ...accepted, running };
      return outcomeOf({ ...held, units }, await deliver(held));
    },
  };
}

type Sold = HeldRequest & { readonly units: UnitsForSale };

async function outcomeOf(sold: Sold, delivery: Delivery): Promise<Outcome> {
  const { gateway, running } = sold;
  const { storage } = running;
  const lostMicros = roundUpToMicro(delivery.lostPicos);
  const spoiled = delivery.spoiled?.picos ? delivery.spoiled : null;
  const { begun } = delivery;
  const telling = begun && { fail: (thrown: ApiError) => failStream(sold, begun, thrown) };
  if (delivery.kind === 'failed') {
    const failed = { kind: 'failed', error: delivery.error, ...telling } as const;
    if (!spoiled)
      return { ...failed, lossMicros: lostMicros, isCausedByAccount: false, losses: [] };
    return {
      ...failed,
      lossMicros: zeroMicros,
      isCausedByAccount: true,
      losses: [{ lossMicros: lostMicros, callNumber: spoiled.calls }],
      spoiled: billOf(sold, { ...spoiled, count: 0, price: withSpoiled(freePrice, spoiled) }),
    };
  }
  const { calls, price, provider, body, contentType } = delivery;
  const bill = billOf(sold, delivery);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = storage.isUsed && {
    status: 200,
    headers: delivery.headers,
    ...(begun
      ? await recordOf(begun)
      : { contentType: contentType ?? jsonType, body: Buffer.from(text) }),
    ...(delivery.usableForMs !== null && { usableForMs: delivery.usableForMs }),
  };
  const { headers } = gateway;
  return {
    kind: 'sold',
    bill,
    losses: [{ lossMicros: lostMicros, callNumber: calls }],
    response: response || null,
    isWhole: bill.record.ending === 'complete' && delivery.isWhole,
    ...(spoiled && {
      spoiled: {
        bill: billOf(sold, { ...delivery, price: withSpoiled(price, spoiled) }),
        // Beside the other loss, so under another number.
        loss: {
          lossMicros: roundUpToMicro(spoiled.picos),
          callNumber: calls + 1,
          isCausedByAccount: true,
        },
      },
    }),
    deliver(charge) {
      if (begun) return endStream(sold, begun, charge);
      const route = { [headers.route]: provider, [headers.attempts]: String(calls) };
      sendWhole(sold, text, {
        charge,
        headers: {
          ...delivery.headers,
          ...route,
          ...(contentType !== undefined && { 'content-type': contentType }),
        },
      });
    },
    ...telling,
  };
}

const jsonType = 'application/json; charset=utf-8';

async function recordOf({ output, lastFrame }: BegunStream) {
  const recorded = lastFrame && (await output.recordedWith(lastFrame(0)));
  return { contentType: output.head.contentType, ...(recorded ?? { body: null }) };
}

function endStream({ gateway }: Sold, { output, lastFrame }: BegunStream, charge: Charge): void {
  const frames = lastFrame && lastFrame(usdFromMicros(charge.costMicros));
  output.end(frames, chargeHeaders(gateway.headers, charge));
}

function failStream(sold: Sold, { output, isEvents }: BegunStream, error: ApiError): void {
  output.fail(error, isEvents ? writeFailure(sold, error) : null);
}

/** The frames of an error in a stream of events. */
export function writeFailure(
  { gateway, caller }: Pick<Accepted, 'gateway' | 'caller'>,
  error: ApiError,
): string {
  const body = clientFormats.responses.writeError(error, errorContextOf({ gateway, caller }));
  return formatSse(null, JSON.stringify(body));
}

function withSpoiled(price: UnitPrice, { picos }: Spoiled): UnitPrice {
  const { listPicos, upstreamPicos } = price.request ?? freePrice;
  return {
    ...price,
    request: { listPicos: listPicos + picos, upstreamPicos: upstreamPicos + picos },
  };
}

type Billed = Pick<Delivered, 'count' | 'price' | 'isEstimate' | 'provider' | 'calls'> & {
  readonly begun?: BegunStream;
};

function billOf(
  sold: Sold,
  { count, price, isEstimate = false, provider, calls, begun }: Billed,
): Bill {
  const { units, sale } = sold;
  const { endpoint, modelName } = units;
  const { terms, quantities, costMicros, upstreamCostMicros } = priceOf(units, price, count);
  const record = {
    modelId: sale.modelId,
    modelName,
    endpoint,
    provider,
    usage: quantities.usage,
    webSearches: quantities.searches,
    images: quantities.images,
    usageSource: isEstimate ? 'estimate' : 'upstream',
    priceVersion: price.version ?? '0',
    streamed: begun !== undefined,
    attempts: calls,
    firstByteMs: begun?.output.firstByteMs ?? null,
    ending: endingOf(sold.running),
    upstreamCostMicros,
    durationMs: elapsedMs(sold.gateway.clock, sold.caller),
  } as const;
  return { terms, costMicros, record };
}

function priceOf({ unit: { counted } }: UnitsForSale, price: UnitPrice, count: number) {
  const { tokens } = price;
  const termsOf = (side: keyof Price, of?: SoldTokens['list']) => {
    const request = price.request?.[side] ?? 0n;
    const others = { ...noPrices, ...(of && { input: of.input, output: of.output }) };
    return counted === null
      ? { ...others, request: request + price[side] * BigInt(count) }
      : { ...others, [counted]: price[side], request };
  };
  const terms = {
    list: termsOf('listPicos', tokens?.list),
    upstream: termsOf('upstreamPicos', tokens?.upstream),
  };
  const quantities = {
    // `noUsage` itself says that no tokens are sold.
    usage: tokens ? { ...noUsage, ...tokens.count } : noUsage,
    searches: counted === 'search' ? count : 0,
    images: counted === 'image' ? count : 0,
  };
  const cost = (prices: UnitPrices) => costOf(prices, quantities);
  return {
    terms,
    quantities,
    costMicros: cost(terms.list),
    upstreamCostMicros: cost(terms.upstream),
  };
}

function affordableUnits(
  { most: { listPicos, request }, count }: UnitsForSale,
  availableMicros: Micros,
): number {
  const leftPicos = BigInt(availableMicros) * picosPerMicro - (request?.listPicos ?? 0n);
  if (leftPicos < 0n) return 0;
  return listPicos === 0n ? count : Math.min(Number(leftPicos / listPicos), count);
}
