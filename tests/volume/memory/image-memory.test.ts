// Many simultaneous edits with large images: all are served, although together they do not fit into
// memory. TOLLGATE_EDITS: how many.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import {
  startGatewayProgram,
  upstreamKey,
  type KeyOptions,
  type TestGateway,
} from '../../support/gateway.ts';
import { editedPng, editsPath, largeEdit } from '../../support/images/large-edit.ts';
import { canMeasure, peakResidentBytes, residentBytes } from '../../support/process-memory.ts';
import type { Program } from '../../support/program.ts';

const edits = Number(process.env['TOLLGATE_EDITS'] ?? 100);
const sandboxEdits = Math.ceil(edits / 8);
/** What the bodies may take together. */
const roomBytes = 100_663_296;
/** A body also exists as text, as a decoded image and as the provider's body. */
const grownBytesMax = 5 * roomBytes;
const inputBytes = 4_000_000;
/** The provider's delay, during which the gateway keeps places for answers. */
const answerMs = 400;

let image: Buffer;
let body: Buffer;
let received: { images: number; active: number; activeMax: number };
let gateway: TestGateway<Program>;
let startBytes = 0;
const provider = createServer((request, response) => {
  answerEdit(request).then(
    (text) => response.end(text),
    () => {}, // the gateway aborted the call: the client left, or a shutdown's deadline passed
  );
});

before(async () => {
  ({ image, body } = await largeEdit(inputBytes));
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
});
after(() => {
  provider.closeAllConnections();
  provider.close();
});

/** Plays OpenAI. It does not store requests, because it shares its memory with the clients. */
async function answerEdit(request: IncomingMessage): Promise<string> {
  received.active += 1;
  received.activeMax = Math.max(received.activeMax, received.active);
  try {
    let bytes = 0;
    for await (const piece of request) bytes += (piece as Buffer).length;
    if (bytes > image.length) received.images += 1;
    await setTimeout(answerMs);
    return JSON.stringify({ created: 1, data: [{ b64_json: editedPng }] });
  } finally {
    received.active -= 1;
  }
}

async function start(t: TestContext, key: KeyOptions): Promise<string> {
  received = { images: 0, active: 0, activeMax: 0 };
  const { port } = provider.address() as AddressInfo;
  gateway = await startGatewayProgram({
    providers: {
      openai: { kind: 'openai', base_url: `http://127.0.0.1:${port}/v1`, api_key: upstreamKey },
    },
    log: { level: 'error' },
  });
  t.after(() => gateway.stop());
  startBytes = canMeasure ? residentBytes(gateway.program.pid) : 0;
  return (await gateway.makeKey(key)).key;
}

/**
 * A client without retries. All clients send the same buffer, so that their memory does not count.
 */
function sendEdit(key: string, agent: Agent) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const request = httpRequest(gateway.url + editsPath, { method: 'POST', agent, headers });
  request.end(body);
  return request;
}

async function edit(key: string, agent: Agent): Promise<string> {
  const sent = sendEdit(key, agent);
  sent.on('error', () => {}); // an early answer may close the connection before the body is sent
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString('utf8');
  assert.equal(response.statusCode, 200, text);
  return text;
}

async function editAtOnce(t: TestContext, key: string, count: number): Promise<void> {
  const agent = new Agent({ maxSockets: Infinity });
  const answers = await Promise.all(Array.from({ length: count }, () => edit(key, agent)));
  agent.destroy();
  for (const answer of answers) assert.match(answer, /"url":"http/);
  if (!canMeasure) return t.diagnostic(`${count} edits; memory cannot be measured here`);
  const grownBytes = peakResidentBytes(gateway.program.pid) - startBytes;
  const megabytes = Math.round(grownBytes / 1_048_576);
  t.diagnostic(`${count} edits of ${body.length} bytes: at most ${megabytes} MB more`);
  assert.ok(grownBytes < grownBytesMax, `${megabytes} MB more`);
}

test(`${edits} edits at once through a slow provider stay within memory`, async (t) => {
  const key = await start(t, { mode: 'live', creditUsd: 100 });
  await editAtOnce(t, key, edits);
  assert.equal(received.images, edits);
  t.diagnostic(`at most ${received.activeMax} at the provider`);
  assert.ok(received.activeMax <= roomBytes / body.length);
});

test(`${sandboxEdits} edits at once in the sandbox stay within memory`, async (t) => {
  await editAtOnce(t, await start(t, { mode: 'test' }), sandboxEdits);
});
