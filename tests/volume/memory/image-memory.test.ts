// Many edits with large images at once: all of them are served, though all of them together would not fit into memory. Those that have to
// wait do so unread. TOLLGATE_EDITS=200 for the long form.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { startGatewayProgram, upstreamKey, type KeyOptions, type TestGateway } from '../../support/gateway.ts';
import { canMeasure, peakResidentBytes } from '../../support/process-memory.ts';
import type { Program } from '../../support/program.ts';

const edits = Number(process.env['TOLLGATE_EDITS'] ?? 60);
const sandboxEdits = Math.ceil(edits / 5);
const memoryMegabytesMax = 600;
const path = '/v1/images/edits';
const inputBytes = 4_000_000;
/** Of the provider, whose answers are what the places are kept for. */
const answerMs = 400;
const arrivalTimeoutMs = 2_000;

let image: Buffer;
let body: Buffer;
let received: { images: number; active: number; activeMax: number };
let gateway: TestGateway<Program>;
const provider = createServer((request, response) => {
  answerEdit(request).then(
    (text) => response.end(text),
    () => {}, // the gateway gave the call up while its body was under way, as it does when a client leaves or a shutdown's time is up
  );
});

before(async () => {
  image = await makeNoise();
  const images = [`data:image/png;base64,${image.toString('base64')}`];
  body = Buffer.from(JSON.stringify({ model: 'gpt-image-flare-edit', prompt: 'Rain', size: '64x64', quality: 'low', images }));
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
});
after(() => {
  provider.closeAllConnections();
  provider.close();
});

/** Pixels without any order, which no file can say in fewer bytes than they have. */
async function makeNoise(): Promise<Buffer> {
  const side = Math.ceil(Math.sqrt(inputBytes / 3));
  const raw = { width: side, height: side, channels: 3 } as const;
  return sharp(randomBytes(side * side * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer();
}

/** Plays OpenAI. It keeps nothing of what it is sent, since it shares its memory with the clients. */
async function answerEdit(request: IncomingMessage): Promise<string> {
  received.active += 1;
  received.activeMax = Math.max(received.activeMax, received.active);
  try {
    let bytes = 0;
    for await (const piece of request) bytes += (piece as Buffer).length;
    if (bytes > image.length) received.images += 1;
    await setTimeout(answerMs);
    return JSON.stringify({ created: 1, data: [{ b64_json: answerPng }] });
  } finally {
    received.active -= 1;
  }
}
const answerPng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

type StartOptions = {
  readonly memoryBytes?: number;
  readonly arrival_timeout_ms?: number;
  readonly shutdown_timeout_ms?: number;
};

async function start(t: TestContext, key: KeyOptions, { memoryBytes, ...server }: StartOptions = {}): Promise<string> {
  received = { images: 0, active: 0, activeMax: 0 };
  const { port } = provider.address() as AddressInfo;
  gateway = await startGatewayProgram({
    providers: { openai: { kind: 'openai', base_url: `http://127.0.0.1:${port}/v1`, api_key: upstreamKey } },
    server,
    ...(memoryBytes !== undefined && { images: { memory_bytes: memoryBytes } }),
    log: { level: 'error' },
  });
  t.after(() => gateway.stop());
  return (await gateway.makeKey(key)).key;
}

/** A client without retries; all of them send the one buffer, so that their memory is not what is measured. */
function sendEdit(key: string, agent: Agent) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length };
  const request = httpRequest(gateway.url + path, { method: 'POST', agent, headers });
  request.end(body);
  return request;
}

async function edit(key: string, agent: Agent): Promise<string> {
  const sent = sendEdit(key, agent);
  sent.on('error', () => {}); // an answer may come before the body has gone out, and then the connection ends beneath it
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString('utf8');
  assert.equal(response.statusCode, 200, text);
  return text;
}

async function editAtOnce(t: TestContext, key: string, count: number): Promise<void> {
  const agent = new Agent({ maxSockets: Infinity });
  const startMs = performance.now();
  const answers = await Promise.all(Array.from({ length: count }, () => edit(key, agent)));
  agent.destroy();
  for (const answer of answers) assert.match(answer, /"url":"http/);
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  if (!canMeasure) return t.diagnostic(`${count} edits in ${seconds} s; memory cannot be measured here`);
  const megabytes = Math.round(peakResidentBytes(gateway.program.pid) / 1_048_576);
  t.diagnostic(`${count} edits of ${body.length} bytes in ${seconds} s: at most ${megabytes} MB`);
  assert.ok(megabytes < memoryMegabytesMax, `${megabytes} MB`);
}

test(`${edits} edits at once through a provider that is slow`, { timeout: 300_000 }, async (t) => {
  const key = await start(t, { mode: 'live', creditUsd: 50 });
  await editAtOnce(t, key, edits);
  assert.equal(received.images, edits);
  t.diagnostic(`at most ${received.activeMax} at the provider`);
  assert.ok(received.activeMax <= 100_663_296 / body.length);
});

test(`${sandboxEdits} edits at once in the sandbox`, { timeout: 300_000 }, async (t) => {
  await editAtOnce(t, await start(t, { mode: 'test' }), sandboxEdits);
});

test('whoever waits for longer than a request may take to arrive is served; who dawdles in his turn is not', async (t) => {
  const key = await start(t, { mode: 'live', creditUsd: 50 }, { memoryBytes: 6_000_000, arrival_timeout_ms: arrivalTimeoutMs });
  const { hostname, port } = new URL(gateway.url);
  const dawdler = connect({ port: Number(port), host: hostname });
  const ended = dawdler.setEncoding('utf8').toArray();
  ended.catch(() => {}); // it is awaited below, perhaps later than it fails
  dawdler.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
  );
  await setTimeout(200);
  const startMs = performance.now();
  const agent = new Agent({ maxSockets: Infinity });
  await Promise.all(Array.from({ length: 8 }, () => edit(key, agent)));
  agent.destroy();
  assert.ok(performance.now() - startMs > arrivalTimeoutMs + 8 * answerMs - 500, 'one at a time, after the dawdler');
  assert.match((await ended).join(''), /^HTTP\/1\.1 408 /);
  assert.equal(received.activeMax, 1);
});

test('places of clients that leave, in the queue and in their turn, are given back', async (t) => {
  const key = await start(t, { mode: 'live', creditUsd: 50 }, { memoryBytes: 6_000_000 });
  const agent = new Agent({ maxSockets: Infinity });
  const leaving = Array.from({ length: 6 }, () => sendEdit(key, agent).on('error', () => {}));
  await setTimeout(200);
  for (const request of leaving) request.destroy();
  await edit(key, agent);
  agent.destroy();
});

test('a shutdown waits for those that wait', async (t) => {
  const key = await start(t, { mode: 'live', creditUsd: 50 }, { memoryBytes: 6_000_000 });
  const agent = new Agent({ maxSockets: Infinity });
  const answers = Promise.all(Array.from({ length: 4 }, () => edit(key, agent)));
  answers.catch(() => {}); // it is awaited below, perhaps later than it fails
  await setTimeout(300);
  const [, code] = await Promise.all([answers, gateway.program.terminate()]);
  assert.equal(code, 0);
  agent.destroy();
});

test('those that still wait when the time of a shutdown is up are told so', async (t) => {
  const key = await start(t, { mode: 'live', creditUsd: 50 }, { memoryBytes: 6_000_000, shutdown_timeout_ms: answerMs });
  const agent = new Agent({ maxSockets: Infinity });
  const replies = Promise.allSettled(
    Array.from({ length: 6 }, () =>
      once(
        sendEdit(key, agent).on('error', () => {}),
        'response',
      ),
    ),
  );
  await setTimeout(200);
  const startMs = performance.now();
  const [answered] = await Promise.all([replies, gateway.program.terminate()]);
  assert.ok(performance.now() - startMs < 4_000);
  const statuses = answered.map((reply) => (reply.status === 'fulfilled' ? (reply.value as [IncomingMessage])[0].statusCode : 0));
  assert.ok(statuses.includes(503) && statuses.every((status) => status !== 500), String(statuses));
  t.diagnostic(String(statuses));
  agent.destroy();
});
