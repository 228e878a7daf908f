// Clients that stop reading mid-stream while their upstreams have hundreds of megabytes left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { streamFrames } from '../../support/answers.ts';
import { startGatewayProgram } from '../../support/gateway.ts';
import { pairModels, pairs } from '../../support/pairs.ts';
import { canMeasure, residentBytes } from '../../support/process-memory.ts';
import { answerEndlessly } from '../../support/upstream.ts';

const endlessBytes = 200_000_000;
const grownBytesMax = 250_000_000;

test('nine stalled readers use little memory', async (t) => {
  if (!canMeasure) return t.skip('memory is only measured where /proc tells it');
  const gateway = await startGatewayProgram({ models: pairModels, log: { level: 'error' } });
  t.after(() => gateway.stop());
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
  for (const { upstream, upstreamPath } of pairs) {
    const { start, deltas } = streamFrames(upstream, { text: 'x'.repeat(60_000), tokens: null });
    gateway.upstream.on(upstreamPath, answerEndlessly(start, deltas, endlessBytes));
  }
  const startBytes = residentBytes(gateway.program.pid);
  const readers = await Promise.all(
    pairs.map(
      (pair) => gateway.open(pair.client.path, { key, body: pair.body({ stream: true }) }).response,
    ),
  );
  for (const reader of readers) reader.on('error', () => {});
  const { requests } = gateway.upstream;
  const sent = () => requests.map(({ bytesSent }) => bytesSent());
  // Waits until nothing moves.
  for (let before: number[] = []; before.join() !== sent().join(); await setTimeout(1_000)) {
    before = sent();
    for (const bytes of before)
      assert.ok(
        bytes < endlessBytes / 5,
        `${bytes} bytes were taken from the upstream without a reader`,
      );
  }
  const grownBytes = residentBytes(gateway.program.pid) - startBytes;
  t.diagnostic(`nine readers that stand still cost ${Math.round(grownBytes / 1e6)} MB`);
  assert.ok(grownBytes < grownBytesMax, `${Math.round(grownBytes / 1e6)} MB`);
  for (const reader of readers) reader.destroy();
});
