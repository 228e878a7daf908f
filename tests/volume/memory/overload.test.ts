// Many large bodies at once on a real process: some are refused, and it lives on.
// `integration/overload` has what a gateway does that lags or whose memory is full.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint } from '../../support/endpoints.ts';
import { startGatewayProgram } from '../../support/gateway.ts';
import type { Reply } from '../../support/http.ts';
import { until } from '../../support/until.ts';

const chat = endpoint('chat');
const isOverloaded = (reply: Reply) => reply.status === 503 && reply.error.code === 'overloaded';

/**
 * The answer comes before the body is complete, so a client that goes on writing may find the connection
 * closed before it reads. Returns the status of such a refusal.
 */
function refusedEarly(error: unknown): 503 {
  if (!['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  return 503;
}

test('eighty clients that send 32 MB each do not end the process', async (t) => {
  const gateway = await startGatewayProgram({ overload: { memory_bytes: 512_000_000 } });
  t.after(() => gateway.stop());
  const { key } = await gateway.makeKey();
  const body = Buffer.from(
    JSON.stringify(chat.body({ messages: [{ role: 'user', content: 'x'.repeat(32_000_000) }] })),
  );
  const outcomes = await Promise.all(
    Array.from({ length: 80 }, () =>
      gateway.post(chat.path, { key, body }).then(
        (reply) => (isOverloaded(reply) ? 'refused' : reply.error.code),
        (error: unknown) => refusedEarly(error) && 'refused',
      ),
    ),
  );
  const counts = Map.groupBy(outcomes, (outcome) => outcome);
  t.diagnostic(Array.from(counts, ([outcome, { length }]) => `${length} × ${outcome}`).join(', '));
  assert.ok(
    outcomes.every((outcome) => outcome === 'refused' || outcome === 'context_length_exceeded'),
    outcomes.join(),
  );
  assert.ok(outcomes.includes('refused') && outcomes.includes('context_length_exceeded'));
  // The memory of the bodies is free when it has been collected.
  await until(
    async () => (await gateway.post(chat.path, { key, body: chat.body() })).status === 200,
  );
});
