import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerJson, answerStatus, hang, type Script } from '../../../tests/support/upstream.ts';
import { SleeplessClock } from '../../../tests/support/test-clock.ts';
import type { ImageJob } from '../image-provider.ts';
import {
  answerCutOff,
  answerEndlessly,
  answerFile,
  apiKey,
  failureOf,
  gif,
  imageOf,
  jobFor,
  mediaTypesOf,
  png,
  startProvider,
  type LocalProvider,
} from '../../../tests/support/images/local-image-provider.ts';
import { bflImages } from './images.ts';

const clock = new SleeplessClock();
const basePath = '/v1';
const submitPath = '/v1/model-x';
const pollPath = '/v1/get_result';
const resultPath = '/results/1.png';

const state = (status: string, more: object = {}) => answerJson({ id: 'i', status, ...more });
const pending = state('Pending');

/** Starts a provider that accepts the job, replays the polls and serves the result. */
async function start(
  t: Parameters<typeof startProvider>[0],
  ...polls: Script[]
): Promise<LocalProvider> {
  const timeouts = { first_byte_ms: 60_000, total_ms: 60_000 };
  const local = await startProvider(t, { basePath, timeouts, clock });
  const { upstream } = local;
  upstream.on(
    submitPath,
    answerJson({ id: 'i', polling_url: `${upstream.url}${pollPath}?id=i`, cost: 3 }),
  );
  const ready = state('Ready', { result: { sample: `${upstream.url}${resultPath}?se=2026` } });
  const [first = ready, ...others] = polls.length > 0 ? polls : [ready];
  upstream.on(pollPath, first, ...others, ...(polls.length > 0 ? [ready] : []));
  upstream.on(resultPath, answerFile(png));
  return local;
}

const run = (local: LocalProvider, changes?: Partial<ImageJob>) =>
  bflImages.generate(jobFor({ clock, ...changes }), local.connection);
const pathsOf = ({ upstream }: LocalProvider) =>
  upstream.requests.map(({ method, path }) => `${method} ${path}`);

test('a job is submitted, polled until ready and fetched; only the API gets the key', async (t) => {
  const local = await start(t, pending, state('Queued'), pending);
  const size = { width: 1_024, height: 768 };
  const images = [imageOf(png), imageOf(gif), imageOf(png)];
  assert.deepEqual(
    mediaTypesOf(await run(local, { size, images, outputFormat: 'jpeg', quality: 'high' })),
    ['image/png'],
  );
  const poll = `GET ${pollPath}`;
  assert.deepEqual(pathsOf(local), [
    `POST ${submitPath}`,
    poll,
    poll,
    poll,
    poll,
    `GET ${resultPath}`,
  ]);
  assert.deepEqual(local.upstream.requests[0]!.body, {
    prompt: 'a café',
    width: 1_024,
    height: 768,
    output_format: 'jpeg',
    input_image: png.toString('base64'),
    input_image_2: gif.toString('base64'),
    input_image_3: png.toString('base64'),
  });
  assert.equal(local.upstream.requests[1]!.query, 'id=i');
  assert.deepEqual(
    local.upstream.requests.map(({ headers }) => headers['x-key']),
    [apiKey, apiKey, apiKey, apiKey, apiKey, undefined],
  );
});

describe('a refusal becomes a 400 for the client', () => {
  for (const status of ['Request Moderated', 'Content Moderated']) {
    test(status, async (t) => {
      const local = await start(
        t,
        pending,
        state(status, { details: { 'Moderation Reasons': ['Violence'] } }),
      );
      const { failure } = failureOf(await run(local));
      assert.deepEqual([failure.kind, failure.status], ['status', 400]);
      assert.match(failure.message, new RegExp(`${status} \\(Violence\\)$`));
    });
  }

  test('a bad parameter, with the provider’s message', async (t) => {
    const local = await start(t);
    local.upstream.on(
      submitPath,
      answerStatus(422, {
        body: { detail: [{ loc: ['body', 'width'], msg: 'width is too large' }] },
      }),
    );
    const { failure } = failureOf(await run(local));
    assert.deepEqual([failure.status, failure.message], [422, 'width is too large']);
  });
});

describe('a failure of the provider', () => {
  const states: Record<string, [script: Script, kind: string, code: number | null]> = {
    Error: [state('Error'), 'status', 500],
    'Task not found': [state('Task not found'), 'status', 500],
    'no status': [answerJson({ id: 'i' }), 'unreadable', null],
    'another shape': [answerJson([]), 'unreadable', null],
    'a body that is not JSON': [answerJson('<html>'), 'unreadable', null],
    'a refused poll': [answerStatus(404), 'unreadable', null],
    'a refused key': [answerStatus(401), 'status', 401],
    'an endless poll': [answerEndlessly, 'unreadable', null],
    'Ready without a result': [state('Ready'), 'unreadable', null],
  };
  for (const [what, [script, kind, code]] of Object.entries(states)) {
    test(`${what} is not blamed on the client`, async (t) => {
      const { failure, requestSent } = failureOf(await run(await start(t, pending, script)));
      assert.deepEqual([failure.kind, failure.status, requestSent], [kind, code, true]);
    });
  }

  test('out of credits at submission', async (t) => {
    const local = await start(t);
    local.upstream.on(submitPath, answerStatus(402));
    assert.equal(failureOf(await run(local)).failure.status, 402);
  });

  const results: Record<string, Script> = {
    'a result that is not an image': answerFile(Buffer.from('<svg/>'), 'image/png'),
    'an endless result': answerEndlessly,
    'a result that is gone': answerStatus(404),
    'a result that moved': answerJson('', {
      status: 302,
      headers: { location: 'http://127.0.0.1:1/' },
    }),
  };
  for (const [what, script] of Object.entries(results)) {
    test(`${what} is not blamed on the client`, async (t) => {
      const local = await start(t);
      local.upstream.on(resultPath, script);
      const { failure } = failureOf(await run(local));
      assert.deepEqual([failure.kind, failure.status], ['unreadable', null]);
    });
  }
});

describe('once the image is billed', () => {
  test('failed polls and fetches are retried', async (t) => {
    const lost = [answerStatus(503), answerCutOff('{'), answerStatus(429), answerStatus(500)];
    const local = await start(t, ...lost, pending, ...lost, pending);
    local.upstream.on(resultPath, answerStatus(500), answerCutOff('x'), answerFile(gif));
    assert.deepEqual(mediaTypesOf(await run(local)), ['image/gif']);
  });

  test('retries are limited', async (t) => {
    const local = await start(t);
    local.upstream.on(pollPath, answerStatus(503));
    assert.equal(failureOf(await run(local)).failure.status, 503);
    assert.equal(pathsOf(local).length, 1 + 5);
  });

  test('a job that stays pending ends as a timeout', async (t) => {
    const local = await start(t);
    local.upstream.on(pollPath, pending);
    const { failure, requestSent } = failureOf(await run(local));
    assert.deepEqual([failure.kind, failure.status, requestSent], ['timeout', null, true]);
    // The waits grow from 0.5 to 3 seconds: 22 polls in a minute.
    assert.equal(pathsOf(local).length, 1 + 22);
  });

  test('a client that disconnects ends the polling at once', async (t) => {
    const local = await start(t);
    local.upstream.on(pollPath, pending, hang);
    const controller = new AbortController();
    const running = run(local, { signal: controller.signal });
    await local.upstream.request(2);
    controller.abort();
    const { failure, requestSent } = failureOf(await running);
    assert.deepEqual([failure.kind, requestSent], ['connection', true]);
    assert.equal(local.upstream.requests.length, 3);
  });
});

describe('a URL outside the provider’s hosts is refused', () => {
  test('for polling, which would leak the key', async (t) => {
    const local = await start(t);
    const other = await startProvider(t, { basePath, clock });
    local.upstream.on(
      submitPath,
      answerJson({ id: 'i', polling_url: `${other.upstream.url}${pollPath}` }),
    );
    assert.match(failureOf(await run(local)).failure.message, /no polling URL on the hosts/);
    assert.equal(other.upstream.connections(), 0);
  });

  test('for fetching', async (t) => {
    const other = await startProvider(t, { basePath, clock });
    const local = await start(
      t,
      state('Ready', { result: { sample: `${other.upstream.url}/latest/meta-data` } }),
    );
    assert.match(failureOf(await run(local)).failure.message, /is not on the hosts/);
    assert.equal(other.upstream.connections(), 0);
  });
});
