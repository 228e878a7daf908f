// Sells images and searches by the piece. The most that all pieces can cost is held, delivered
// pieces are charged at their actual price, and failures are free.
import type { ApiError } from '../../canonical/errors.ts';
import type { PieceEndpointName } from '../../canonical/endpoint-name.ts';
import { costOf, noPrices, type UnitPrices } from '../../canonical/price-terms.ts';
import { noUsage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ChargeRecord } from '../../domain/ledger/commands.ts';
import { roundUpToMicro, zeroMicros, type Micros, type Picos } from '../../lib/money.ts';
import type { Run } from '../active-runs.ts';
import { endingOf } from '../audience.ts';
import type { Client, Headers } from '../client.ts';
import { requestHeaders } from '../headers.ts';
import { type AnswerStorage, retentionHeaders } from '../replaying/answer-storage.ts';
import { elapsedMs, type Accepted, type Work } from '../stages.ts';
import { shuttingDown, takenOver } from '../unavailable.ts';
import { refuseHold } from './hold-refusal.ts';
import { OpenHold, reserve } from './open-hold.ts';
import { spoiledAndCharged } from './provoked.ts';
import { runHeld } from './run-held.ts';

export type Sale = {
  readonly endpoint: PieceEndpointName;
  readonly modelId: string;
  readonly modelName: string;
  /** The unit: `image` or `search`. */
  readonly piece: 'image' | 'search';
  readonly count: number;
  /** The highest price that may be charged; it is held. */
  readonly most: PiecePrice;
  /** What the operator probably pays in total: the loss if the process is killed. */
  readonly likelyPicos: Picos;
  readonly priceVersion: string;
  /** The field with which the client can ask for fewer; null: only one piece can be asked for. */
  readonly countField: string | null;
};

/** `list`: the account pays it. `upstream`: the operator pays it. */
type Price = { readonly listPicos: Picos; readonly upstreamPicos: Picos };

/** The price of a piece, and of the request in addition to its pieces. */
export type PiecePrice = Price & { readonly request?: Price };

/** Pieces that the account could spoil, at the operator's cost. `calls`: of the whole request. */
type Spoiled = {
  readonly picos: Picos;
  readonly provider: string;
  readonly calls: number;
};

/**
 * `lostPicos`: what the operator pays for pieces that may have been made and that nobody gets.
 * `spoiled`: the account could cause those too, and beyond its loss budget pays for them; left out:
 * none.
 */
export type Delivery =
  | {
      readonly kind: 'delivered';
      readonly count: number;
      readonly price: PiecePrice;
      readonly provider: string;
      /** Number of calls to providers. */
      readonly calls: number;
      /** Cacheable: complete and from the primary route. */
      readonly isWhole: boolean;
      readonly body: JsonObject;
      /** Headers that are part of the answer and stored with it. */
      readonly headers: Headers;
      /** null: for ever. */
      readonly usableForMs: number | null;
      readonly lostPicos: Picos;
      readonly spoiled?: Spoiled;
    }
  | {
      readonly kind: 'failed';
      readonly error: ApiError;
      readonly lostPicos: Picos;
      readonly spoiled?: Spoiled;
    };

/**
 * Once `waiting` is aborted, nothing new is started. A provider completes and bills what it was
 * asked for, even when the client has left; that is waited for and charged, unless `running` is
 * aborted.
 */
export type SaleSignals = Pick<Run, 'waiting' | 'running'>;

/**
 * Returns the work of an endpoint that sells pieces. `offerTo` returns what is sold and the function
 * that delivers it.
 */
export function workOfSale(
  facts: Pick<Work, 'modelId' | 'provider' | 'route' | 'headers' | 'body' | 'said'>,
  offerTo: (accepted: Accepted) => Offer,
): Work {
  return {
    ...facts,
    stream: false,
    isCachedUnasked: false,
    weigh: () => ({
      tokens: 0,
      async execute(accepted, client, storage) {
        await sell({ accepted, client, storage }, offerTo(accepted));
        return 0;
      },
    }),
    writeFailure() {
      throw new Error('pieces are never streamed');
    },
  };
}

type Offer = { readonly sale: Sale; readonly deliver: (signals: SaleSignals) => Promise<Delivery> };
type Buyer = {
  readonly accepted: Accepted;
  readonly client: Client;
  readonly storage: AnswerStorage;
};

/** Answers the client, or throws the ApiError to answer with. */
async function sell({ accepted, client, storage }: Buyer, { sale, deliver }: Offer): Promise<void> {
  const { gateway } = accepted;
  const hold = await holdFor(accepted, sale);
  await runHeld({ gateway, hold, client, storage }, async (run) => {
    const delivery = await deliver(run);
    const sold = { accepted, client, storage, hold, sale };
    if (!delivery.spoiled?.picos) return end(sold, delivery, { isFree: true });
    await gateway.standings.bookInTurn(accepted.key, (isFree) => end(sold, delivery, { isFree }));
  });
}

/**
 * Answers the client, or throws the ApiError to answer with. `isFree`: the loss budget has room for
 * what is spoiled.
 */
async function end(
  buying: Buying,
  delivery: Delivery,
  { isFree }: { readonly isFree: boolean },
): Promise<void> {
  const { accepted, hold } = buying;
  const { spoiled } = delivery;
  const lostMicros = roundUpToMicro(delivery.lostPicos);
  const spoiledMicros = roundUpToMicro(spoiled?.picos ?? 0n);
  if (delivery.kind === 'failed') {
    if (!spoiled || spoiledMicros === 0) await hold.release(lostMicros);
    else {
      await hold.bookLossBeside(lostMicros, { callNumber: spoiled.calls });
      if (!isFree) throw await chargeSpoiled(buying, spoiled);
      await hold.release(spoiledMicros, { isProvoked: true });
    }
    throw accepted.gateway.runs.isEnding ? shuttingDown() : delivery.error;
  }
  const { calls, price } = delivery;
  await hold.bookLossBeside(lostMicros, { callNumber: calls });
  if (spoiled && !isFree) {
    const request = withSpoiled(price.request, spoiled);
    return settle({ ...buying, delivery: { ...delivery, price: { ...price, request } } });
  }
  // Beside the other loss, so under another number.
  await hold.bookLossBeside(spoiledMicros, { callNumber: calls + 1, isProvoked: true });
  return settle({ ...buying, delivery });
}

function withSpoiled(price: Price | undefined, { picos }: Spoiled): Price {
  const { listPicos = 0n, upstreamPicos = 0n } = price ?? {};
  return { listPicos: listPicos + picos, upstreamPicos: upstreamPicos + picos };
}

/** Charges what was made and cannot be passed on. Returns the error to answer with. */
async function chargeSpoiled(
  { accepted, client, storage, hold, sale }: Buying,
  spoiled: Spoiled,
): Promise<ApiError> {
  const request = withSpoiled(undefined, spoiled);
  const priced = priceOf(sale, { listPicos: 0n, upstreamPicos: 0n, request }, 0);
  const course = {
    ending: endingOf({ client, storage }),
    upstreamCostMicros: priced.upstreamCostMicros,
    durationMs: elapsedMs(accepted),
  };
  const record = recordOf(sale, { ...spoiled, count: 0 }, course);
  const charge = await hold.charge({ ...priced, record, response: null, isWhole: false }, storage);
  return charge ? spoiledAndCharged(charge.costMicros) : takenOver();
}

async function holdFor(accepted: Accepted, sale: Sale): Promise<OpenHold> {
  const { gateway } = accepted;
  const { costMicros: amountMicros } = priceOf(sale, sale.most, sale.count);
  const likelyCost = {
    atOnceMicros: roundUpToMicro(sale.likelyPicos),
    perSecondMicros: zeroMicros,
  };
  const hold = await reserve(gateway, accepted, { amountMicros, likelyCost });
  if (hold instanceof OpenHold) return hold;
  const affordable = affordablePieces(sale, hold.affordableMicros);
  const pieces = sale.piece === 'image' ? 'images' : 'searches';
  throw refuseHold(hold, {
    amountMicros,
    nowMs: gateway.clock.nowMs(),
    costPart: '',
    fitsPart:
      affordable > 0 && sale.countField !== null
        ? ` Up to ${affordable} ${pieces} would fit: send \`${sale.countField}\` of at most that.`
        : ` Not even one ${sale.piece} would fit.`,
    details: { [`affordable_${pieces}`]: affordable },
  });
}

type Delivered = Extract<Delivery, { kind: 'delivered' }>;
type Buying = Buyer & { readonly hold: OpenHold; readonly sale: Sale };
type Sold = Buying & { readonly delivery: Delivered };

async function settle({ accepted, client, storage, hold, sale, delivery }: Sold): Promise<void> {
  const { gateway } = accepted;
  const body = JSON.stringify(delivery.body);
  const ending = endingOf({ client, storage });
  const priced = priceOf(sale, delivery.price, delivery.count);
  const usable = delivery.usableForMs !== null && { usableForMs: delivery.usableForMs };
  const response = storage.bodyBytesMax !== null && {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    headers: delivery.headers,
    body: Buffer.from(body),
    ...usable,
  };
  const course = {
    ending,
    upstreamCostMicros: priced.upstreamCostMicros,
    durationMs: elapsedMs(accepted),
  };
  const sold = {
    ...priced,
    record: recordOf(sale, delivery, course),
    response: response || null,
    isWhole: ending === 'complete' && delivery.isWhole,
  };
  const charge = await hold.charge(sold, storage);
  if (!charge) throw takenOver();
  client.sendAnswer(body, {
    ...requestHeaders(accepted),
    ...delivery.headers,
    ...retentionHeaders({ gateway, storage }),
    [gateway.headers.route]: delivery.provider,
    [gateway.headers.attempts]: String(delivery.calls),
    [gateway.headers.cost]: String(charge.costMicros),
    [gateway.headers.balance]: String(charge.balanceCents),
  });
}

function recordOf(
  { endpoint, modelId, modelName, piece, priceVersion }: Sale,
  { count, provider, calls }: Pick<Delivered, 'count' | 'provider' | 'calls'>,
  course: Pick<ChargeRecord, 'ending' | 'upstreamCostMicros' | 'durationMs'>,
): ChargeRecord {
  return {
    modelId,
    modelName,
    endpoint,
    provider,
    usage: noUsage,
    webSearches: piece === 'search' ? count : 0,
    images: piece === 'image' ? count : 0,
    usageSource: 'upstream',
    priceVersion,
    streamed: false,
    attempts: calls,
    firstByteMs: null,
    ...course,
  };
}

function priceOf({ piece }: Sale, price: PiecePrice, count: number) {
  const termsOf = (side: keyof Price) => ({
    ...noPrices,
    [piece]: price[side],
    request: price.request?.[side] ?? 0n,
  });
  const terms = { list: termsOf('listPicos'), upstream: termsOf('upstreamPicos') };
  const quantities = {
    usage: noUsage,
    searches: piece === 'search' ? count : 0,
    images: piece === 'image' ? count : 0,
  };
  const cost = (prices: UnitPrices) => costOf(prices, quantities);
  return { terms, costMicros: cost(terms.list), upstreamCostMicros: cost(terms.upstream) };
}

const picosPerMicro = 1_000_000n;

function affordablePieces(
  { most: { listPicos, request }, count }: Sale,
  availableMicros: Micros,
): number {
  const leftPicos = BigInt(availableMicros) * picosPerMicro - (request?.listPicos ?? 0n);
  if (leftPicos < 0n) return 0;
  return listPicos === 0n ? count : Math.min(Number(leftPicos / listPicos), count);
}
