import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { answerJson, answerStatus, hang, type Script } from '../../../tests/support/upstream.ts';
import {
  apiKey,
  failureOf,
  gif,
  imageOf,
  jobFor,
  mediaTypesOf,
  png,
  startProvider,
} from '../../../tests/support/images/local-image-provider.ts';
import type { ImageJob } from '../image-provider.ts';
import { compatibleImages, openaiImages } from './images.ts';

const generations = '/v1/images/generations';
const edits = '/v1/images/edits';
const basePath = '/v1';
/** Asks a provider that answers with this. */
async function ask(t: TestContext, script: Script, job: Partial<ImageJob> = {}) {
  const { upstream, connection } = await startProvider(t, { basePath });
  for (const path of [generations, edits]) upstream.on(path, script);
  return { upstream, result: await openaiImages.generate(jobFor(job), connection) };
}

async function failureAfter(t: TestContext, script: Script) {
  return failureOf((await ask(t, script)).result).failure;
}

const entry = (bytes: Buffer) => ({ b64_json: bytes.toString('base64') });

test('a generation is JSON with every parameter, and its images are read by their bytes', async (t) => {
  const script = answerJson({ output_format: 'webp', data: [entry(png), entry(gif)], usage: {} });
  const size = { width: 1_536, height: 1_024 };
  const job = { count: 2, size, quality: 'high', outputFormat: 'webp' } as const;
  const { upstream, result } = await ask(t, script, job);
  assert.deepEqual(mediaTypesOf(result), ['image/png', 'image/gif']);
  const [request] = upstream.requests;
  assert.deepEqual(request!.body, {
    model: 'model-x',
    prompt: 'a café',
    n: 2,
    size: '1536x1024',
    quality: 'high',
    output_format: 'webp',
  });
  assert.equal(request!.headers.authorization, `Bearer ${apiKey}`);
});

test('compatible hosts are asked for base64; OpenAI and GPT models refuse that parameter', async (t) => {
  const { upstream, connection } = await startProvider(t, { basePath });
  upstream.on(generations, answerJson({ data: [entry(png)] }));
  await compatibleImages.generate(jobFor(), connection);
  for (const upstreamModel of ['openai/gpt-image-2', 'chatgpt-image-latest'])
    await compatibleImages.generate(jobFor({ upstreamModel }), connection);
  await openaiImages.generate(jobFor(), connection);
  assert.deepEqual(
    upstream.requests.map(({ body }) => (body as Record<string, unknown>).response_format),
    ['b64_json', undefined, undefined, undefined],
  );
});

test('base64 as a data URL is read', async (t) => {
  const data = [{ b64_json: `data:image/png;base64,${png.toString('base64')}` }];
  assert.deepEqual(mediaTypesOf((await ask(t, answerJson({ data }))).result), ['image/png']);
});

test('an edit is a form with its images as files', async (t) => {
  const images = [imageOf(png), imageOf(gif)];
  const job = { images, mask: imageOf(png) };
  const { upstream, result } = await ask(t, answerJson({ data: [entry(png)] }), job);
  assert.deepEqual(mediaTypesOf(result), ['image/png']);
  assert.equal(upstream.requests[0]!.path, edits);
  const { headers, body } = upstream.requests[0]!;
  assert.match(String(headers['content-type']), /^multipart\/form-data; boundary=/);
  assert.match(
    String(body),
    /name="image\[\]"; filename="image-2\.gif"\r\ncontent-type: image\/gif/,
  );
  assert.match(String(body), /name="mask"; filename="mask\.png"\r\ncontent-type: image\/png/);
});

describe('an answer’s images', () => {
  const cases: Record<string, [data: unknown, types: string[]]> = {
    'fewer than requested are returned': [[entry(png)], ['image/png']],
    'surplus images are left out': [
      [entry(png), entry(png), entry(gif), entry(gif)],
      ['image/png', 'image/png', 'image/gif'],
    ],
    'files that are not images are left out': [
      [entry(png), entry(Buffer.from('<svg/>')), { url: 'https://x' }, null],
      ['image/png'],
    ],
  };
  for (const [what, [data, types]] of Object.entries(cases)) {
    test(what, async (t) => {
      const { result } = await ask(t, answerJson({ data }), { count: 3 });
      assert.deepEqual(mediaTypesOf(result), types);
    });
  }

  const garbage: Record<string, unknown> = {
    'no image at all': { data: [entry(Buffer.from('<html>'))] },
    'an address instead of an image': { data: [{ url: 'https://x/y.png' }] },
    'an empty list': { data: [] },
    'another shape': { images: 'many' },
    'a list': [],
    'a body that is not JSON': '<html>',
  };
  for (const [what, body] of Object.entries(garbage)) {
    test(`${what} is unreadable`, async (t) => {
      assert.equal((await failureAfter(t, answerJson(body))).kind, 'unreadable');
    });
  }
});

describe('failures', () => {
  test('moderation is a 400 with the provider’s message and code', async (t) => {
    const error = { code: 'moderation_blocked', message: 'Rejected by the safety system.' };
    const { result } = await ask(t, answerStatus(400, { body: { error } }));
    assert.deepEqual(result, {
      kind: 'failure',
      requestSent: true,
      failure: {
        kind: 'status',
        status: 400,
        message: error.message,
        retryAfterSeconds: null,
        vendor: { code: 'moderation_blocked' },
      },
    });
  });

  test('ten of the largest images that do not compress, which are billed, can be read', async (t) => {
    const { upstream, connection } = await startProvider(t, { basePath });
    upstream.on(generations, answerJson({ data: [entry(png)] }));
    const bounds: number[] = [];
    const send: typeof connection.http.send = (call) => {
      bounds.push(call.answerBytesMax!);
      return connection.http.send(call);
    };
    await openaiImages.generate(jobFor({ count: 10 }), {
      ...connection,
      http: { ...connection.http, send },
    });
    // Three bytes a pixel, a hundredth around them, four characters for three bytes.
    assert.ok(bounds[0]! > 10 * 3_840 * 2_160 * 3 * 1.01 * (4 / 3), `${bounds[0]} bytes`);
  });

  test('a client that disconnects stops the call, also during an upload', async (t) => {
    const { upstream, connection } = await startProvider(t, { basePath });
    upstream.on(generations, hang);
    upstream.on(edits, hang);
    for (const images of [[], [imageOf(png)]]) {
      const controller = new AbortController();
      const running = openaiImages.generate(
        jobFor({ images, signal: controller.signal }),
        connection,
      );
      const request = await upstream.request(images.length);
      controller.abort();
      assert.equal(failureOf(await running).failure.kind, 'connection');
      assert.equal(await request.ended, 'aborted');
    }
  });

  test('an unsent request is reported as unsent', async (t) => {
    const { upstream, connection } = await startProvider(t, { basePath });
    await upstream.close();
    const { requestSent, failure } = failureOf(await openaiImages.generate(jobFor(), connection));
    assert.deepEqual([requestSent, failure.kind], [false, 'connection']);
  });
});
