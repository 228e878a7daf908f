// The end of a hold: a charge or a release. A charge is durable before the client is told of success.
import type { ChargeRecord } from '../ledger/commands.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import type { Usage } from '../canonical/usage.ts';
import { countUsage, totalInputTokens } from '../canonical/usage.ts';
import { priceUsage } from '../catalog/price.ts';
import type { Micros } from '../lib/money.ts';
import { floorToCents, zeroMicros } from '../lib/money.ts';
import type { Running } from './running.ts';

export type Ended = {
  /** The upstream's own count; null when it gave none, or none yet. */
  readonly usage: Usage | null;
  /** The upstream's count of the input from the start of a stream; null when it gave none. */
  readonly earlyUsage: Usage | null;
  readonly outputBytes: number;
  readonly ending: 'complete' | 'cut-off';
};

export type Charge = { readonly costMicros: Micros; readonly balanceCents: number };

/** Charges what was used. Throws when the ledger cannot be written: the client must not be told of success then. */
export async function settleHold(running: Running, ended: Ended): Promise<Charge> {
  const { gateway, key, hold, trace, price } = running;
  const usage = clampUsage(running, ended.usage ?? ownCount(running, ended));
  const priced = priceUsage(price, usage);
  const outcome = await gateway.ledger.submit({
    type: 'settle',
    holdId: hold.id,
    ledgerId: ledgerIdOf(key.accountId, key.mode),
    keyId: key.id,
    costMicros: priced.costMicros,
    record: recordOf(running, ended, { usage, ...priced }),
  });
  running.isResolved = true;
  if (outcome.type !== 'charged') throw new Error(`the ledger answered a settlement with ${outcome.type}`);
  Object.assign(trace, {
    inputTokens: totalInputTokens(usage),
    outputTokens: usage.outputTokens,
    costMicros: outcome.chargedMicros,
    lossMicros: outcome.lossMicros,
    ending: ended.ending,
  });
  return { costMicros: outcome.chargedMicros, balanceCents: floorToCents(outcome.availableMicros) };
}

/** Gives the hold back. `outputBytes`: what the upstream had generated before it failed, which the operator pays. */
export async function releaseHold(running: Running, outputBytes: number): Promise<void> {
  const generated = ownCount(running, { earlyUsage: null, outputBytes });
  const lossMicros = outputBytes === 0 ? zeroMicros : priceUsage(running.price, generated).upstreamCostMicros;
  running.trace.ending ??= 'failed';
  const outcome = await running.gateway.ledger.submit({ type: 'release', holdId: running.hold.id, lossMicros });
  running.isResolved = true;
  if (outcome.type === 'released') running.trace.lossMicros = lossMicros;
}

type Priced = { readonly usage: Usage; readonly upstreamCostMicros: Micros; readonly priceVersion: string };

function recordOf({ model, format, route, request }: Running, ended: Ended, priced: Priced): ChargeRecord {
  return {
    modelId: model.id,
    modelName: model.displayName,
    endpoint: format.name,
    provider: route.transport === 'http' ? route.provider.name : 'sandbox',
    usage: priced.usage,
    usageSource: ended.usage ? 'upstream' : 'estimate',
    priceVersion: priced.priceVersion,
    upstreamCostMicros: priced.upstreamCostMicros,
    ending: ended.ending,
    streamed: request.stream,
  };
}

function ownCount({ estimate }: Running, { earlyUsage, outputBytes }: Pick<Ended, 'earlyUsage' | 'outputBytes'>): Usage {
  return countUsage({ estimatedInputTokens: estimate.likely, outputBytes, early: earlyUsage });
}

/** An upstream's usage is untrusted: no request can have more input than the context, nor more output than the model gives. */
function clampUsage({ model, request, gateway, requestId, route }: Running, usage: Usage): Usage {
  const outputMax = model.maxOutputTokens * request.choices;
  if (totalInputTokens(usage) <= model.contextTokens && usage.outputTokens <= outputMax) return usage;
  gateway.log.warn(
    { request_id: requestId, provider: route.transport, usage },
    'the upstream reported more tokens than the model can take or give: clamped',
  );
  let room = model.contextTokens;
  const take = (tokens: number) => {
    const taken = Math.min(tokens, room);
    room -= taken;
    return taken;
  };
  return {
    inputTokens: take(usage.inputTokens),
    cacheReadTokens: take(usage.cacheReadTokens),
    cacheWriteTokens: take(usage.cacheWriteTokens),
    cacheWrite1hTokens: take(usage.cacheWrite1hTokens),
    outputTokens: Math.min(usage.outputTokens, outputMax),
    reasoningTokens: Math.min(usage.reasoningTokens, usage.outputTokens, outputMax),
  };
}
