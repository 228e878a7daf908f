// A gateway with every image provider, played by a local upstream, and helpers for image tests:
//
//   const { gateway, newKey, draw, assertCharged } = await startImageGateway();
//   const owner = await newKey();
//   await assertCharged(await draw(owner.key, { n: 2 }), { ...owner, images: 2, micros: 39_000 });
import assert from 'node:assert/strict';
import { startGateway, upstreamKey, type KeyOptions } from './gateway.ts';
import type { Reply } from './http.ts';
import { bflAt, playImageProviders } from './image-upstreams.ts';
import type { TestClock } from './test-clock.ts';
import type { LocalUpstream, Script } from './upstream.ts';

export const generations = '/v1/images/generations';
export const prompt = 'a red fox in the snow';
/** The initial balance of `newKey`'s account. */
const creditMicros = 5_000_000;

export type Body = Readonly<Record<string, unknown>>;
export type Answer = {
  readonly created: number;
  readonly data: readonly { readonly url?: string; readonly b64_json?: string }[];
};
type UsageRecord = {
  readonly model: string;
  readonly images?: number;
  readonly total_tokens: number;
  readonly cost_cents: number;
};
type Owner = { readonly key: string; readonly account: string };
type ChargedImages = Owner & {
  readonly mode?: 'live' | 'test';
  readonly images: number;
  readonly micros: number;
};

export type ImageGateway = Awaited<ReturnType<typeof startImageGateway>>;

/**
 * `config` is merged into a configuration with a markup of 1.5 and an upstream from which images
 * may be fetched. With a test's clock, `draw` skips the waits between two polls of an unfinished
 * image.
 */
export async function startImageGateway(
  config: object = {},
  { clock }: { readonly clock?: TestClock } = {},
) {
  const configOf = (upstream: LocalUpstream) => ({
    providers: { bfl: bflAt(upstream, upstreamKey) },
    images: { allowed_hosts: [new URL(upstream.url).host] },
    pricing: { markup: 1.5 },
    ...config,
  });
  const gateway = await startGateway(configOf, { clock });
  playImageProviders(gateway.upstream);

  const newKey = (options: KeyOptions = {}) =>
    gateway.makeKey({ mode: 'live', creditUsd: creditMicros / 1_000_000, ...options });

  function draw(
    key: string,
    body: Body = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const reply = gateway.post(generations, {
      key,
      headers,
      body: { model: 'gpt-image-flare', prompt, ...body },
    });
    return clock ? clock.skipWaits(reply) : reply;
  }

  /** Restores the providers' scripts when the test ends. */
  function play(
    t: { after: (restore: () => void) => void },
    path: string,
    ...scripts: [Script, ...Script[]]
  ): void {
    gateway.upstream.on(path, ...scripts);
    t.after(() => playImageProviders(gateway.upstream));
  }

  async function recordsOf(key: string): Promise<UsageRecord[]> {
    return (await gateway.get('/v1/usage', { key })).json<{ data: UsageRecord[] }>().data;
  }

  /**
   * Checks that header, usage record and balance agree on the cost, and that nothing stays held.
   */
  async function assertCharged(
    reply: Reply,
    { key, account, mode = 'live', images, micros }: ChargedImages,
  ): Promise<void> {
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.costMicros, micros);
    const [record, ...others] = await recordsOf(key);
    assert.deepEqual(
      [record!.images, record!.total_tokens, record!.cost_cents, others.length],
      [images, 0, micros / 10_000, 0],
    );
    const { availableMicros, heldMicros } = await gateway.balance(account, mode);
    assert.equal(heldMicros, 0);
    if (mode === 'live') assert.equal(availableMicros, creditMicros - micros);
  }

  async function assertFree({ key, account }: Owner): Promise<void> {
    const { availableMicros, heldMicros } = await gateway.balance(account);
    assert.deepEqual([availableMicros, heldMicros, await recordsOf(key)], [creditMicros, 0, []]);
  }

  /** The operator's losses, in micros, one per entry. */
  async function lossesOf(account: string): Promise<number[]> {
    const entries = gateway.database.read
      .selectFrom('entries')
      .select('loss_micros')
      .where('ledger_id', '=', `${account}:live`);
    return (await entries.execute())
      .map((entry) => entry.loss_micros)
      .filter((lossMicros) => lossMicros > 0);
  }

  return { gateway, newKey, draw, play, recordsOf, assertCharged, assertFree, lossesOf };
}

export function urlsOf(reply: Reply): string[] {
  assert.equal(reply.status, 200, reply.text);
  return reply.json<Answer>().data.map(({ url }) => url!);
}
