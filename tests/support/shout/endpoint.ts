// A made-up endpoint that sells capitals by the character, with two hosts. It shows what a new sale
// needs: what it asks for, its price, and one call.
import { scaleByFactor } from '../../../src/domain/catalog/price.ts';
import { toApiError } from '../../../src/gateway/calling/failure-message.ts';
import { callRoute, tryInOrder, type Callable } from '../../../src/gateway/calling/call-route.ts';
import { priceFactorFor } from '../../../src/gateway/routing/price-factor.ts';
import { saleOfUnits } from '../../../src/gateway/sales/units.ts';
import type { Endpoint } from '../../../src/gateway/stages.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { hosts, shout, type Shouted } from './host.ts';
import { parseShoutRequest } from './operation.ts';

/** Two microdollars a character. */
const upstreamPicos = 2_000_000n;
const modelId = 'shout';

export const shoutEndpoint: Endpoint = (gateway, { body, caller }) => {
  const { key, record } = caller;
  const { text } = parseShoutRequest(body);
  const routes = hosts[key.mode];
  const [{ route: first }] = routes as [Callable];
  const { provider } = first;
  const facts = {
    modelId,
    provider,
    route: provider,
    headers: {},
    body: body as JsonObject,
    prompt: () => text,
  };
  return saleOfUnits(facts, () => {
    const factor = priceFactorFor(gateway, key, modelId);
    const price = {
      upstreamPicos,
      listPicos: scaleByFactor(upstreamPicos, factor, { isListPrice: false }),
    };
    const units = {
      endpoint: 'shout',
      modelName: 'Shout',
      unit: { one: 'character', many: 'characters', counted: null },
      count: text.length,
      most: price,
      likelyPicos: upstreamPicos * BigInt(text.length),
      countField: null,
    };
    return {
      units,
      async deliver({ running: { run: signals } }) {
        let calls = 0;
        const { hosts: parts, clock } = gateway;
        const { routing, takeCall } = parts;
        const signal = signals.running;
        const order = { routes, health: routing.health, takeCall, isSearch: false, signals };
        const tried = await tryInOrder<Callable, Shouted & { provider: string }>(
          order,
          (host, { number }) =>
            callRoute(
              { record, clock, signal },
              { ...host, isStream: false, number },
              async (to) => {
                calls += 1;
                const call = { upstreams: parts.upstreams, trace: to.trace, signal };
                return { ...(await shout(host, text, call)), provider: host.route.provider };
              },
            ),
        );
        const lostPicos = 0n;
        if (tried.kind === 'failure')
          return { kind: 'failed', error: toApiError(tried.failure), lostPicos };
        return {
          kind: 'delivered',
          count: text.length,
          price,
          provider: tried.provider,
          calls,
          isWhole: tried.provider === provider,
          body: { text: tried.text },
          headers: {},
          usableForMs: null,
          lostPicos,
        };
      },
    };
  });
};
