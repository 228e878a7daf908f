// A client that reads slowly, until its provider gives up, pays: else it would get most of each answer
// for nothing.
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock();
const gateway = await startGateway(
  {
    models: {
      letters: {
        type: 'speech',
        prices: { input: 0, output: 0, million_characters: 1 },
        routes: [{ provider: 'openai', model: 'host' }],
      },
    },
  },
  { clock },
);
after(() => gateway.stop());
const { upstream } = gateway;

/** More than the sockets on the way hold. */
const piece = Buffer.alloc(1024 * 1024, 7);
const pieces = 40;

for (const [what, waitMs, charged] of [
  ['that stops for long pays', 11_000, 5],
  ['that reads on pays nothing', 0, 0],
] as const)
  test(`a client ${what}, when its provider breaks off`, async () => {
    const reset = Promise.withResolvers<void>();
    upstream.on('/v1/audio/speech', async (response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      for (let sent = 0; sent < pieces; sent++) response.write(piece);
      await reset.promise;
      response.socket?.resetAndDestroy();
    });
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    const first = upstream.requests.length;
    const body = { model: 'letters', input: 'Hello', voice: 'alloy' };
    const headers = { 'idempotency-key': what };
    const response = await gateway.open('/v1/audio/speech', { key, body, headers }).response;
    const { bytesSent } = await upstream.request(first);
    for (let before = -1, turns = 0; turns < 50; turns++) {
      await setImmediate();
      if (bytesSent() !== before) [before, turns] = [bytesSent(), 0];
    }
    if (waitMs > 0) await clock.advance(waitMs);
    let bytes = 0;
    try {
      for await (const part of response) {
        bytes += (part as Buffer).length;
        if (bytes >= piece.length * (pieces - 10)) reset.resolve();
      }
      assert.fail('the answer looks complete');
    } catch (error) {
      assert.notEqual((error as { code?: string }).code, 'ERR_ASSERTION');
    }
    while ((await gateway.balance(account)).heldMicros > 0) await setImmediate();
    assert.equal(1_000_000 - (await gateway.balance(account)).availableMicros, charged);
    if (charged === 0) return;
    // A part of an answer is not replayed as if it were all.
    const again = await gateway.post('/v1/audio/speech', { key, body, headers });
    assert.equal(again.error.code, 'idempotency_body_not_retained');
  });
