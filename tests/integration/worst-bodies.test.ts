// No body takes much longer in one turn of the event loop than `JSON.parse` takes (`tryToBeQuick`):
// nothing else runs meanwhile. `npm run test:all -- fuzz` sends bodies of
// the largest size, with a live key.
import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { tryToBeQuick, TurnMeter } from '../support/cpu-time.ts';
import { addressed, clients } from '../support/endpoints.ts';
import { startLoopGateway } from '../support/loop-gateway.ts';
import { Random } from '../support/random.ts';
import { isPart, scaled } from '../support/volume.ts';
import {
  bodyBytesMax,
  countBodies,
  imageBodies,
  searchBodies,
  worstBodies,
  type Body,
} from '../support/worst-bodies.ts';

const isFull = scaled(false, true);
const smallBytes = 1_000_000;
const bytes = scaled(smallBytes, bodyBytesMax);

const meter = new TurnMeter();

// As large as a model's context gets.
const loop = await startLoopGateway({ max_input_tokens: 2_000_000, max_output_tokens: 128_000 });
const testKey = (await loop.gateway.makeKey()).key;
after(async () => {
  meter.stop();
  await loop.gateway.stop();
});

type Sent = { readonly path: string; readonly key: string; readonly body: Body };

/**
 * A model's name of megabytes in an address is refused before its end, so its client may find the
 * connection closed while it writes.
 */
const refusedAtOnce =
  ({ path }: Sent) =>
  (error: unknown) => {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (path.length < bytes || !['ECONNRESET', 'EPIPE'].includes(code)) throw error;
    return { status: 431, text: '' };
  };

/** Returns null when the body was quick, else what it took. */
async function slownessOf(t: TestContext, name: string, sent: Sent): Promise<string | null> {
  const text = JSON.stringify(sent.body);
  const body = Buffer.from(text);
  const { isQuick, tookMs, maxMs } = await tryToBeQuick(text, async () => {
    const turn = await meter.longestTurnOf(() =>
      loop.gateway.post(sent.path, { key: sent.key, body }).catch(refusedAtOnce(sent)),
    );
    assert.ok(turn.result.status < 500, `${name}: ${turn.result.text.slice(0, 300)}`);
    assert.doesNotMatch(turn.result.text.slice(0, 300), /cannot be read/, name);
    return turn.tookMs;
  });
  const measured = `${name}: ${Math.round(tookMs)} of ${Math.round(maxMs)} ms`;
  if (isFull && tookMs > maxMs / 2) t.diagnostic(measured);
  return isQuick ? null : measured;
}

/** Among all groups of `npm run test:all`, a random third of the bodies is sent. */
const share = isPart ? 1 / 3 : 1;

async function assertQuick(t: TestContext, bodies: readonly (readonly [string, Sent])[]) {
  const slow: string[] = [];
  const random = new Random(t.name);
  for (const [name, sent] of bodies) {
    if (random.next() >= share) continue;
    const slowness = await slownessOf(t, name, sent);
    if (slowness !== null) slow.push(slowness);
  }
  assert.deepEqual(slow, []);
}

/** Every reader and every writer once: all pairs with the largest bodies take a quarter of an hour. */
const upstreams = {
  chat: 'messages',
  responses: 'gemini',
  messages: 'chat',
  gemini: 'responses',
} as const;

for (const client of clients) {
  const { name: wire } = client;
  const upstream = upstreams[wire];
  test(`no ${wire} body holds a thread, on ${upstream}`, async (t) => {
    const key = isFull ? loop.key : testKey;
    const sent = Object.entries(worstBodies(bytes)).map(([name, make]) => {
      const body = { model: `on-${upstream}`, ...make(wire) };
      return [name, { key, ...addressed(client, body) }] as const;
    });
    await assertQuick(t, sent);
  });
}

const otherBodies = (size: number) => [
  ...countBodies(size),
  ...imageBodies('/v1/images/generations', size),
  ...imageBodies('/v1/images/edits', size),
  ...searchBodies(size),
];

test('no body of the other endpoints holds a thread', async (t) => {
  const lengths = otherBodies(smallBytes).map(({ body }) => JSON.stringify(body).length);
  const others = otherBodies(bytes);
  // `npm test` sends the bodies that have many values instead of long texts.
  const sent = isFull
    ? others.filter(({ body }, index) => JSON.stringify(body).length !== lengths[index])
    : others;
  await assertQuick(
    t,
    sent.map(({ name, path, body }) => [`${path}: ${name}`, { path, key: testKey, body }]),
  );
});
