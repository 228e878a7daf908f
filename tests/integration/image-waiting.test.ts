// Edits too large to be in memory side by side wait for each other, unread. `npm run test:all --
// memory` measures the process's memory.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { IncomingMessage } from 'node:http';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { RunningApp } from '../support/running-app.ts';
import { editedPng, editsPath, largeEdit } from '../support/images/large-edit.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerJson } from '../support/upstream.ts';

const arrivalTimeoutMs = 60_000;
const shutdownTimeoutMs = 30_000;
/** How long the gateway waits for the provider after the client has left. */
const readOnMs = 5_000;

const { body } = await largeEdit(4_000_000);

type Started = {
  readonly gateway: TestGateway<RunningApp>;
  readonly clock: TestClock;
  readonly key: string;
  /** Sends this many edits. */
  readonly edit: (count: number) => ReturnType<TestGateway['open']>[];
  /** Resolves when this many edits wait or run. */
  readonly underWay: (count: number) => Promise<void>;
  /** Answers the provider's only edit. */
  readonly answerNext: () => Promise<void>;
};

/** A gateway with memory for one edit, and a provider that answers when told to. */
async function start(t: TestContext): Promise<Started> {
  const clock = new TestClock();
  const config = {
    server: { arrival_timeout_ms: arrivalTimeoutMs, shutdown_timeout_ms: shutdownTimeoutMs },
  };
  const gateway = await startGateway(config, { clock, tuning: { arrivingBytes: 6_000_000 } });
  const atProvider: (() => void)[] = [];
  t.after(async () => {
    for (const answer of atProvider) answer();
    await gateway.stop();
  });
  const answerWhole = answerJson({ created: 1, data: [{ b64_json: editedPng }] });
  gateway.upstream.on(editsPath, async (response, request) => {
    await new Promise<void>((resolve) => atProvider.push(resolve));
    await answerWhole(response, request);
  });
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
  return {
    gateway,
    clock,
    key,
    edit: (count) => Array.from({ length: count }, () => gateway.open(editsPath, { key, body })),
    underWay: async (count) =>
      void (await until(() => gateway.program.app.gateway.runs.count === count)),
    answerNext: async () => {
      await until(() => atProvider.length > 0);
      assert.equal(atProvider.length, 1, 'two edits have been let in');
      atProvider.shift()!();
    },
  };
}

async function statusOf({
  response,
}: ReturnType<TestGateway['open']>): Promise<number | undefined> {
  const answer: IncomingMessage = await response;
  const text = Buffer.concat(await answer.toArray()).toString('utf8');
  if (answer.statusCode === 200) assert.match(text, /"url":"http/);
  return answer.statusCode;
}

test('a long wait does not end a request, but a slow upload in its turn does', async (t) => {
  const { gateway, clock, key, edit, underWay, answerNext } = await start(t);
  const dawdler = connect(Number(new URL(gateway.url).port), '127.0.0.1').setEncoding('utf8');
  dawdler.write(
    `POST ${editsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n{`,
  );
  let received = '';
  dawdler.on('data', (text: string) => (received += text));
  await once(dawdler, 'data');
  assert.match(received, /^HTTP\/1\.1 100 /);
  const statuses = Promise.all(edit(4).map(statusOf));
  await underWay(4);
  assert.equal(gateway.upstream.requests.length, 0, 'they wait for the dawdler');
  const dismissed = once(dawdler, 'close');
  await clock.advance(arrivalTimeoutMs);
  await dismissed;
  assert.match(received, /HTTP\/1\.1 408 /);
  for (let left = 4; left > 0; left--) {
    await gateway.upstream.request(4 - left);
    await underWay(left);
    // Longer, in total, than a request may take to arrive.
    await clock.advance(arrivalTimeoutMs / 2);
    await answerNext();
  }
  assert.deepEqual(new Set(await statuses), new Set([200]));
});

test('announced bodies that do not come hold nobody else up for long', async (t) => {
  const { gateway, clock, edit, underWay, answerNext } = await start(t);
  const { key: other } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const sockets = Array.from({ length: 4 }, () =>
    connect(Number(new URL(gateway.url).port), '127.0.0.1').setEncoding('utf8'),
  );
  for (const socket of sockets)
    socket.write(
      `POST ${editsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${other}\r\nContent-Type: application/json\r\n` +
        `Content-Length: 32000000\r\n\r\n {`,
    );
  // One has its turn, three wait.
  await underWay(3);
  const statuses = Promise.all(edit(1).map(statusOf));
  await underWay(4);
  assert.equal(gateway.upstream.requests.length, 0);
  const refusal = once(sockets[0]!, 'data');
  await clock.advance(6_000);
  await answerNext();
  assert.deepEqual(await statuses, [200]);
  assert.match(String(await refusal), /^HTTP\/1\.1 503 [^]*"code":"overloaded"/);
  for (const socket of sockets) socket.destroy();
});

test('a test that lasts as long as it likes keeps no place of those who pay', async (t) => {
  const { edit, answerNext, gateway, clock } = await start(t);
  const { key: free } = await gateway.makeKey();
  const prompt = 'sandbox: delay_ms=543000';
  const slow = { ...(JSON.parse(body.toString('utf8')) as Record<string, unknown>), prompt };
  const { request, response } = gateway.open(editsPath, {
    key: free,
    body: Buffer.from(JSON.stringify(slow)),
  });
  response.catch(() => {});
  await until(() => clock.dueIn(543_000) > 0);
  const [paid] = edit(1);
  await answerNext();
  assert.equal(await statusOf(paid!), 200);
  request.destroy();
});

test('clients that leave free their places, in the queue and in their turn', async (t) => {
  const { edit, underWay, answerNext, gateway } = await start(t);
  const leaving = edit(3);
  await underWay(3);
  await gateway.upstream.request(0);
  for (const { request } of leaving) request.destroy();
  await answerNext();
  const [staying] = edit(1);
  await gateway.upstream.request(1);
  await answerNext();
  assert.equal(await statusOf(staying!), 200);
});

test('an edit keeps its place until it is drawn, even after its client has left', async (t) => {
  const { edit, underWay, answerNext, gateway, clock } = await start(t);
  const [left] = edit(1);
  await gateway.upstream.request(0);
  left!.request.destroy();
  await until(() => clock.dueIn(readOnMs) > 0);
  const [waiting] = edit(1);
  await underWay(2);
  for (let looks = 0; looks < 5; looks++) await gateway.get('/healthz');
  assert.equal(gateway.upstream.requests.length, 1);
  await answerNext();
  await gateway.upstream.request(1);
  await answerNext();
  assert.equal(await statusOf(waiting!), 200);
});

test('a shutdown waits for queued edits', async (t) => {
  const { edit, underWay, answerNext, gateway, clock } = await start(t);
  const statuses = Promise.all(edit(3).map(statusOf));
  await underWay(3);
  const ends = terminate(gateway);
  for (let left = 3; left > 0; left--) await answerNext();
  assert.deepEqual(await statuses, [200, 200, 200]);
  await ends(clock);
});

test('edits still queued at the end of a shutdown get an error', async (t) => {
  const { edit, underWay, gateway, clock } = await start(t);
  const statuses = Promise.all(edit(3).map(statusOf));
  await underWay(3);
  await gateway.upstream.request(0);
  const ends = terminate(gateway);
  await clock.advance(shutdownTimeoutMs);
  assert.deepEqual(await statuses, [503, 503, 503]);
  await ends(clock);
});

/**
 * Begins to stop a gateway. The returned function waits for the end: idle client connections close
 * by the gateway's clock.
 */
function terminate({ program }: TestGateway<RunningApp>): (clock: TestClock) => Promise<void> {
  let isEnded = false;
  const ended = program.terminate().then(() => (isEnded = true));
  return async (clock) => {
    await until(async () => {
      await clock.advance(1_000);
      return isEnded;
    });
    await ended;
  };
}
