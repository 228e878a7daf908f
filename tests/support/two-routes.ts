// A gateway whose models have two routes, each to its own provider and local server, and helpers
// that show what happened to a request.
import assert from 'node:assert/strict';
import type { WireName } from './answers.ts';
import { endpoints, type Endpoint } from './endpoints.ts';
import { startGateway, upstreamKey, type TestGateway } from './gateway.ts';
import type { Reply } from './http.ts';
import type { RunningAppOptions } from './running-app.ts';
import { startUpstream, type LocalUpstream, type Script } from './upstream.ts';
import { rowsOf } from './rows.ts';

/** USD per million tokens. */
const prices = { input: 1, output: 10 };
export const modelLimits = { max_input_tokens: 100_000, max_output_tokens: 8_000, prices };

/**
 * Straight-path models for each format: `two-chat` uses `first`, then `second`; `one-chat` uses
 * `first` only.
 */
const models = Object.fromEntries(
  endpoints.flatMap(({ name }) => {
    const suffix = name === 'messages' ? '-anthropic' : '';
    const route = (provider: string) => ({
      provider: provider + suffix,
      model: `${provider}-model`,
      api: name,
    });
    return [
      [`two-${name}`, { ...modelLimits, routes: [route('first'), route('second')] }],
      [`one-${name}`, { ...modelLimits, routes: [route('first')] }],
    ];
  }),
);

export type TwoRoutes = {
  readonly gateway: TestGateway;
  readonly first: LocalUpstream;
  readonly second: LocalUpstream;
  /** Calls to each since this was last read. */
  readonly calls: () => readonly [first: number, second: number];
  /** Scripts both providers for a format from now on. */
  readonly play: (
    wire: WireName,
    first: readonly [Script, ...Script[]],
    second?: readonly [Script, ...Script[]],
  ) => void;
  /** A request's single charge, and its entries by kind. */
  readonly booked: (reply: Reply) => Promise<Booked>;
  readonly stop: () => Promise<void>;
};

type Booked = {
  readonly provider: string | null;
  readonly costMicros: number;
  readonly kinds: readonly string[];
  readonly lossMicros: number;
};

export async function startTwoRoutes(
  config: Record<string, unknown> & { readonly models?: object; readonly retries?: object } = {},
  { tuning, ...options }: Omit<RunningAppOptions, 'config'> = {},
): Promise<TwoRoutes> {
  const second = await startUpstream();
  const configOf = (first: LocalUpstream) => ({
    log: { level: 'info' },
    ...config,
    providers: {
      first: { kind: 'openai', base_url: `${first.url}/v1`, api_key: upstreamKey },
      second: {
        kind: 'openai',
        base_url: `${second.url}/v1`,
        api_key: upstreamKey,
        tool_prices: { web_search: 0.05 },
      },
      'first-anthropic': { kind: 'anthropic', base_url: first.url, api_key: upstreamKey },
      'second-anthropic': { kind: 'anthropic', base_url: second.url, api_key: upstreamKey },
    },
    models: { ...models, ...config.models },
    retries: { max_attempts: 4, ...config.retries },
  });
  // Waits are negligible and no route is taken out of use, unless the test asks for it.
  const usual = { backoffMs: 1, retriesMin: 100, failuresMax: 1_000, ejectionMsMax: 1 };
  const gateway = await startGateway(configOf, { ...options, tuning: { ...usual, ...tuning } });
  const first = gateway.upstream;
  let [seenFirst, seenSecond] = [0, 0];
  return {
    gateway,
    first,
    second,
    calls: () => {
      const counts = [
        first.requests.length - seenFirst,
        second.requests.length - seenSecond,
      ] as const;
      [seenFirst, seenSecond] = [first.requests.length, second.requests.length];
      return counts;
    },
    play: (wire, firstScripts, secondScripts) => {
      const { upstreamPath } = endpointOf(wire);
      first.on(upstreamPath, ...firstScripts);
      if (secondScripts) second.on(upstreamPath, ...secondScripts);
    },
    booked: (reply) => readBooked(gateway, reply),
    stop: async () => {
      await gateway.stop();
      await second.close();
    },
  };
}

export function endpointOf(wire: WireName): Endpoint {
  return endpoints.find(({ name }) => name === wire)!;
}

async function readBooked({ database }: TestGateway, { requestId }: Reply): Promise<Booked> {
  const charges = await rowsOf(database, 'charges', { id: requestId });
  const entries = await database.read
    .selectFrom('entries')
    .selectAll()
    .where('id', 'like', `${requestId}%`)
    .orderBy('seq')
    .execute();
  assert.ok(charges.length <= 1);
  return {
    provider: charges[0]?.provider ?? null,
    costMicros: Number(charges[0]?.cost_micros ?? 0),
    kinds: entries.map(({ kind }) => kind),
    lossMicros: entries.reduce((sum, { loss_micros: loss }) => sum + Number(loss), 0),
  };
}

/**
 * From the headers, or from the trailers of a stream whose head was sent before the route was
 * known.
 */
export function servedBy({
  headers,
  trailers,
}: Reply): readonly [route: unknown, attempts: unknown] {
  const valueOf = (name: string) => headers[name] ?? trailers[name];
  return [valueOf('x-service-route'), valueOf('x-service-attempts')];
}
