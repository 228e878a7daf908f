// A running gateway seals days by itself, and stops without waiting for it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { rowsOf } from '../support/rows.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

const firstLookMs = 10 * 60_000;

test('a gateway looks for days to seal after its start, and doubts its first clock', async () => {
  const clock = new TestClock();
  const gateway = await startGateway({}, { clock });
  try {
    await clock.advance(firstLookMs);
    const row = await until(() =>
      gateway.database.read
        .selectFrom('sealing')
        .selectAll()
        .where('doubted_since_ms', 'is not', null)
        .where('owner', 'is', null)
        .executeTakeFirst(),
    );
    assert.equal(row.trusted_ms, null);
    const seals = await rowsOf(gateway.database, 'sealed_days');
    assert.deepEqual(seals, []);
  } finally {
    await gateway.stop();
  }
});

test('a gateway stops while it looks', async () => {
  const clock = new TestClock();
  const gateway = await startGateway({}, { clock });
  await clock.advance(firstLookMs);
  await gateway.stop();
});
