// A request that was answered with an earlier one's answer, without what it takes to find that out: of the next one whose bytes are the same,
// nothing need be parsed, checked or named. Whether there still is an answer is asked of those who keep it, each time.
import type { WholeResponse } from '../canonical/stored-response.ts';
import type { LedgerId } from '../ledger/commands.ts';
import type { Balance } from '../ledger/queries.ts';
import type { Admitted } from './admitted.ts';
import type { Headers } from './client.ts';
import type { Work } from './endpoint.ts';
import type { Gateway } from './gateway.ts';
import { costHeaders, type ReplaySource } from './replay.ts';
import { requestHeaders } from './running.ts';

/** It holds as long as its key stays the same: account, permissions and the cache's generation are the key's. */
export type KnownRequest = Pick<Admitted, 'key' | 'name' | 'cacheName'> &
  Pick<Work, 'modelId' | 'provider' | 'stream'> & { readonly ledgerId: LedgerId };

export type RecalledAnswer = { readonly response: WholeResponse; readonly source: ReplaySource };

/** The answer that memory has, looked for in the order of run-once.ts and run-cached.ts; null: the request must be run. */
export function recallAnswer({ idempotency, cache }: Gateway, { name, cacheName }: KnownRequest): RecalledAnswer | null {
  if (name) {
    const known = idempotency.recall(name);
    return known?.kind === 'stored' ? { response: known.response, source: 'idempotent-replay' } : null;
  }
  const hit = cacheName && cache.recall(cacheName);
  return hit ? { response: hit.response, source: 'hit' } : null;
}

/** The headers that an answer has each time it is sent, beside its content's own. */
export function lastingHeaders(gateway: Gateway, { key }: KnownRequest, { response, source }: RecalledAnswer): Headers {
  return { ...requestHeaders({ gateway, key, rateHeaders: {} }), ...response.headers, ...costHeaders(gateway, source) };
}

/** What counting a request has told: headers that only this answer has. */
export type Counted = { readonly balance: Balance | null; readonly rateHeaders: Headers };

/** Counts the request. Throws what `run` would; nothing is counted then. */
export function countKnown(gateway: Gateway, { key, ledgerId }: KnownRequest): Counted | Promise<Counted> {
  const count = (balance: Balance | null) => {
    const taken = gateway.rateLimits.takeRequest(key);
    return taken instanceof Promise ? taken.then((rateHeaders) => ({ balance, rateHeaders })) : { balance, rateHeaders: taken };
  };
  const balance = gateway.readBalance(ledgerId);
  return balance instanceof Promise ? balance.then(count) : count(balance);
}
