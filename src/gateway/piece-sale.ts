// What is sold by the piece, at a price that is known before: images and searches. All pieces are held for, the ones that were delivered
// are charged, and what failed is free.
import type { ApiError } from '../canonical/errors.ts';
import { costOf, noPrices, type UnitPrices } from '../canonical/price-terms.ts';
import { noUsage } from '../canonical/usage.ts';
import type { JsonObject } from '../formats/format.ts';
import type { ChargeRecord } from '../ledger/commands.ts';
import { zeroMicros, type Micros, type Picos } from '../lib/money.ts';
import type { Admitted } from './admitted.ts';
import type { Client, Headers } from './client.ts';
import { shuttingDown, takenOver } from './failed.ts';
import { reserve } from './hold.ts';
import { refuseHold } from './hold-refusal.ts';
import type { Keeping } from './keeping.ts';
import { endingOf, requestHeaders, stopWhenForsaken } from './running.ts';
import { bookLossBeside, chargeHold, giveBack, timesOf } from './settle.ts';

export type Sale = {
  readonly endpoint: 'images' | 'web-search';
  readonly modelId: string;
  readonly modelName: string;
  /** `image` or `search`, as prices call a piece. */
  readonly piece: 'image' | 'search';
  readonly count: number;
  /** Of one piece, as the account pays it and as the operator does. */
  readonly listPicos: Picos;
  readonly upstreamPicos: Picos;
  readonly priceVersion: string;
  /** The field by which fewer can be asked for; null: a single one is all that can be. */
  readonly countField: string | null;
};

/** `lost`: pieces that a provider may have made and that nobody gets, which the operator pays. */
export type Delivery =
  | {
      readonly kind: 'delivered';
      readonly count: number;
      readonly provider: string;
      /** Whether it is what whoever asks the same tomorrow is to get: all of it, by the route that the cache knows it by. */
      readonly isWhole: boolean;
      readonly body: JsonObject;
      /** Those that are part of the answer, and stay with it when it is stored. */
      readonly headers: Headers;
      /** null: for ever. */
      readonly usableForMs: number | null;
      readonly lost: number;
    }
  | { readonly kind: 'failed'; readonly error: ApiError; readonly lost: number };

type Buyer = { readonly admitted: Admitted; readonly client: Client; readonly keeping: Keeping };

/** Answers the client, or throws the ApiError to answer with. `deliver`'s signal: nobody waits any more, or the program ends. */
export async function sellPieces(
  { admitted, client, keeping }: Buyer,
  sale: Sale,
  deliver: (signal: AbortSignal) => Promise<Delivery>,
): Promise<void> {
  const { gateway, requestId, key, trace } = admitted;
  trace.holdMicros = await holdFor(admitted, sale);
  const controller = gateway.runs.open();
  const hold = { id: requestId };
  const selling = { gateway, key, trace, client, keeping, controller, hold, isForsaken: false, isResolved: false };
  stopWhenForsaken(selling);
  try {
    const delivery = await deliver(controller.signal);
    if (delivery.kind === 'failed') {
      await giveBack(selling, priceOf(sale, delivery.lost).upstreamCostMicros);
      throw gateway.runs.isEnding ? shuttingDown() : delivery.error;
    }
    await bookLossBeside(selling, priceOf(sale, delivery.lost).upstreamCostMicros);
    await settle(admitted, selling, { sale, delivery });
  } catch (error) {
    if (!selling.isResolved) await giveBack(selling, zeroMicros);
    throw error;
  } finally {
    gateway.runs.close(controller);
  }
}

async function holdFor(admitted: Admitted, sale: Sale): Promise<Micros> {
  const { gateway } = admitted;
  const { costMicros: amountMicros, upstreamCostMicros } = priceOf(sale, sale.count);
  const likelyCost = { atOnceMicros: upstreamCostMicros, perSecondMicros: zeroMicros };
  const outcome = await reserve(gateway, admitted, { amountMicros, likelyCost });
  if (outcome.type === 'held') return amountMicros;
  const affordable = affordablePieces(sale, outcome.affordableMicros);
  const pieces = sale.piece === 'image' ? 'images' : 'searches';
  throw refuseHold(outcome, {
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

type Selling = Parameters<typeof chargeHold>[0] & Pick<Buyer, 'client'>;
type Sold = { readonly sale: Sale; readonly delivery: Extract<Delivery, { kind: 'delivered' }> };

async function settle(admitted: Admitted, selling: Selling, { sale, delivery }: Sold): Promise<void> {
  const { gateway, trace } = admitted;
  const body = JSON.stringify(delivery.body);
  const ending = endingOf(selling);
  const priced = priceOf(sale, delivery.count);
  const usable = delivery.usableForMs !== null && { usableForMs: delivery.usableForMs };
  const response = { status: 200, contentType: 'application/json; charset=utf-8', headers: delivery.headers, body, ...usable };
  const charge = await chargeHold(selling, {
    ...priced,
    record: recordOf(sale, delivery, { ending, upstreamCostMicros: priced.upstreamCostMicros, ...timesOf(trace, gateway.clock) }),
    response: selling.keeping.bodyBytesMax === null ? null : response,
    isWhole: ending === 'complete' && delivery.isWhole,
  });
  if (!charge) throw takenOver();
  Object.assign(trace, { provider: delivery.provider, [sale.piece === 'image' ? 'images' : 'searches']: delivery.count });
  selling.client.sendAnswer(body, {
    ...requestHeaders(admitted),
    ...delivery.headers,
    [gateway.headers.route]: delivery.provider,
    [gateway.headers.attempts]: String(trace.attempts ?? 1),
    [gateway.headers.cost]: String(charge.costMicros),
    [gateway.headers.balance]: String(charge.balanceCents),
  });
}

function recordOf(
  { endpoint, modelId, modelName, piece, priceVersion }: Sale,
  { count, provider }: Sold['delivery'],
  course: Pick<ChargeRecord, 'ending' | 'upstreamCostMicros' | keyof ReturnType<typeof timesOf>>,
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
    ...course,
  };
}

function priceOf({ piece, listPicos, upstreamPicos }: Sale, count: number) {
  const terms = { list: { ...noPrices, [piece]: listPicos }, upstream: { ...noPrices, [piece]: upstreamPicos } };
  const quantities = { usage: noUsage, searches: piece === 'search' ? count : 0, images: piece === 'image' ? count : 0 };
  const cost = (prices: UnitPrices) => costOf(prices, quantities);
  return { terms, costMicros: cost(terms.list), upstreamCostMicros: cost(terms.upstream) };
}

const picosPerMicro = 1_000_000n;

function affordablePieces({ listPicos, count }: Sale, availableMicros: Micros): number {
  if (listPicos === 0n) return count;
  return Math.min(Number((BigInt(availableMicros) * picosPerMicro) / listPicos), count);
}
