// What every short way to a known answer asks before it gives it, and what it tells with it.
import type { Gateway } from '../../gateway/gateway.ts';
import { type Counted, countKnown, type KnownRequest, type RecalledAnswer, recallAnswer } from '../../gateway/known-request.ts';
import { balanceHeaders } from '../../gateway/replay.ts';
import type { ApiKey } from '../../keys/api-key.ts';
import type { Balance } from '../../ledger/queries.ts';
import type { ServerContext } from '../context.ts';
import type { Traced } from '../ended-requests.ts';
import { idHeaderNames } from '../middleware/trace.ts';

export type KnownContext = Pick<ServerContext, 'gateway' | 'keys' | 'lifecycle' | 'overload'>;

export class KnownAnswers {
  readonly gateway: Gateway;
  readonly #context: KnownContext;
  /** A balance stays the same for many requests: what is told of it is written once. */
  readonly #balanceHeaders = new WeakMap<Balance, readonly string[]>();

  constructor(context: KnownContext) {
    this.gateway = context.gateway;
    this.#context = context;
  }

  /** Whether requests are taken at all at this moment. */
  get isOpen(): boolean {
    const { lifecycle, overload } = this.#context;
    return lifecycle.phase === 'serving' && overload.reason === null;
  }

  isValid(key: ApiKey): boolean {
    return this.#context.keys.isCurrent(key) && (key.expiresAtMs === null || this.gateway.clock.nowMs() < key.expiresAtMs);
  }

  recall(request: KnownRequest): RecalledAnswer | null {
    return this.isValid(request.key) ? recallAnswer(this.gateway, request) : null;
  }

  /** null: it could not be counted. What goes wrong here goes wrong the full way as well, and is told there. */
  count(request: KnownRequest): Counted | null | Promise<Counted | null> {
    try {
      // As a rule all that counts is in memory: nothing is waited for then.
      const counted = countKnown(this.gateway, request);
      return counted instanceof Promise ? counted.catch(() => null) : counted;
    } catch {
      return null;
    }
  }

  /** The headers that only this answer has, names and values in turn. */
  headersOf({ balance, rateHeaders }: Counted, { trace, route }: Traced): string[] {
    const headers = balance ? this.#balanceHeadersOf(balance).slice() : [];
    for (const name in rateHeaders) headers.push(name, rateHeaders[name]!);
    for (const name of idHeaderNames(route)) headers.push(name, trace.requestId);
    return headers;
  }

  #balanceHeadersOf(balance: Balance): readonly string[] {
    let headers = this.#balanceHeaders.get(balance);
    if (!headers) this.#balanceHeaders.set(balance, (headers = Object.entries(balanceHeaders(this.gateway, balance)).flat()));
    return headers;
  }
}
