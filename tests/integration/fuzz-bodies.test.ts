// Fuzzed bodies (tests/support/body-fuzzer.ts) at full rate over keep-alive connections: each gets
// an answer, none is an internal error, and memory stays bounded. FUZZ_BODIES: how many.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Pool } from 'undici';
import { fuzzedBody } from '../support/body-fuzzer.ts';
import { addressed, clients } from '../support/endpoints.ts';
import { metricsToken, startGatewayProgram } from '../support/gateway.ts';
import { canMeasure, peakResidentBytes, residentBytes } from '../support/process-memory.ts';
import { Random } from '../support/random.ts';
import { scaled } from '../support/volume.ts';

const bodiesCount = Number(process.env['FUZZ_BODIES'] ?? scaled(1_000, 5_000));
const connections = 32;
/** Warm-up, until memory is stable. */
const warmUpCount = bodiesCount / 10;
/** A limit for hangs only. */
const hangMs = 120_000;
const memoryGrowthMax = 300_000_000;
const expectedStatuses = new Set([200, 400, 401, 404, 413, 415, 422, 429]);

const gateway = await startGatewayProgram({
  log: { level: 'error' },
  metrics: { token: metricsToken },
});
const { key } = await gateway.makeKey();
const pool = new Pool(gateway.url, { connections, headersTimeout: hangMs, bodyTimeout: hangMs });
after(async () => {
  await pool.close();
  await gateway.stop();
});

const seen: Record<number, number> = {};

test(`${bodiesCount} fuzzed bodies cause no internal error, no hang and bounded memory`, async (t) => {
  await sendAll(0, warmUpCount);
  const startBytes = memory();
  await sendAll(warmUpCount, bodiesCount);
  const [peakBytes, endBytes] = [canMeasure ? peakResidentBytes(gateway.program.pid) : 0, memory()];
  t.diagnostic(
    `${JSON.stringify(seen)}; RSS start ${mb(startBytes)}, peak ${mb(peakBytes)}, end ${mb(endBytes)} MB`,
  );
  assert.ok(
    seen[200]! > bodiesCount / 50 && seen[400]! > bodiesCount / 10,
    'both kinds of bodies are among them',
  );
  assert.ok(
    peakBytes - startBytes < memoryGrowthMax,
    `the program has grown by ${mb(peakBytes - startBytes)} MB`,
  );
  assert.equal(
    (await gateway.get('/readyz', { key: metricsToken })).json<{ running: number }>().running,
    0,
  );
  assert.doesNotMatch(gateway.program.output, /"level":(?:50|60)/);
});

async function sendAll(start: number, end: number): Promise<void> {
  let next = start;
  const senders = Array.from({ length: connections }, async () => {
    while (next < end) await sendBody(next++);
  });
  await Promise.all(senders);
}

/** A body's number alone determines it, whichever connection sends it. */
async function sendBody(index: number): Promise<void> {
  const random = new Random(`body ${index}`);
  const client = random.pick(clients);
  const body = fuzzedBody(client.name, random);
  const named = {
    model: random.pick([client.model, 'gpt-6-luna', 'nope']),
    stream: random.chance(0.3),
  };
  const path = addressed(client, named).path.replace('?alt=sse', random.pick(['', '?alt=sse']));
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': random.chance(0.01) ? 'text/plain' : 'application/json',
  };
  const reply = await pool.request({ method: 'POST', path, headers, body });
  const text = await reply.body.text();
  const { statusCode } = reply;
  seen[statusCode] = (seen[statusCode] ?? 0) + 1;
  const what = () => `body ${index}: ${statusCode} ${text.slice(0, 300)}`;
  assert.ok(expectedStatuses.has(statusCode), what());
  if (statusCode === 200) assert.doesNotMatch(text, /"internal_error"/, what());
  else checkError(text, what);
}

function checkError(text: string, what: () => string): void {
  const { error, request_id: outer } = JSON.parse(text) as {
    error: {
      message: string;
      request_id?: string;
      details?: readonly { metadata?: { request_id?: string } }[];
    };
    request_id?: string;
  };
  const google = error.details?.[0]?.metadata?.request_id;
  assert.ok(error.message.length > 0 && error.message.length < 2_000, what());
  assert.match(outer ?? error.request_id ?? google ?? '', /^req_/, what());
}

const memory = (): number => (canMeasure ? residentBytes(gateway.program.pid) : 0);
const mb = (bytes: number): number => Math.round(bytes / 1_000_000);
