import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { answerJson, answerStatus, type Script } from '../../../tests/support/upstream.ts';
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
import { googleImages } from './images.ts';

const path = '/v1beta/models/model-x:generateContent';
/** Asks a provider that answers with this. */
async function ask(t: TestContext, script: Script, job: Partial<ImageJob> = {}) {
  const { upstream, connection } = await startProvider(t, { basePath: '' });
  upstream.on(path, script);
  return { upstream, result: await googleImages.generate(jobFor(job), connection) };
}

const inline = (bytes: Buffer, more: object = {}) => ({
  inlineData: { mimeType: 'image/jpeg', data: bytes.toString('base64') },
  ...more,
});
const answer = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...more }],
});

test('aspect ratio and resolution use Gemini’s fields, and images follow the prompt', async (t) => {
  const script = answerJson(answer([{ text: 'Here it is.' }, inline(png)]));
  const job = { images: [imageOf(gif)], aspectRatio: '16:9', resolution: '2k' } as const;
  const { upstream, result } = await ask(t, script, job);
  assert.deepEqual(mediaTypesOf(result), ['image/png']);
  const { body, headers } = upstream.requests[0]!;
  assert.equal(headers['x-goog-api-key'], apiKey);
  assert.deepEqual(body, {
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'a café' },
          { inlineData: { mimeType: 'image/gif', data: gif.toString('base64') } },
        ],
      },
    ],
    generationConfig: {
      responseModalities: ['IMAGE'],
      imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
    },
  });
});

test('drafts among the thoughts are skipped, and the last image is the answer', async (t) => {
  const parts = [inline(png), inline(gif), inline(png, { thought: true })];
  const { result } = await ask(t, answerJson(answer(parts)));
  assert.deepEqual(mediaTypesOf(result), ['image/gif']);
});

describe('an answer without an image', () => {
  const refusals: Record<string, [body: object, message: string]> = {
    'a blocked prompt': [
      { promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Not this.' } },
      'Not this. (PROHIBITED_CONTENT)',
    ],
    'a blocked prompt without words': [
      { promptFeedback: { blockReason: 'SAFETY' } },
      'the provider does not draw this prompt (SAFETY)',
    ],
    'a blocked image': [
      answer([], {
        finishReason: 'IMAGE_SAFETY',
        finishMessage: 'Unable to show the generated image.',
      }),
      'Unable to show the generated image. (IMAGE_SAFETY)',
    ],
    'words instead': [answer([{ text: 'I cannot draw that.' }]), 'I cannot draw that. (STOP)'],
    'nothing, with a reason': [
      { candidates: [{ finishReason: 'NO_IMAGE' }] },
      'the provider made no image of this request (NO_IMAGE)',
    ],
  };
  for (const [what, [body, message]] of Object.entries(refusals)) {
    test(`${what} is the client's 400`, async (t) => {
      const { failure } = failureOf((await ask(t, answerJson(body))).result);
      assert.deepEqual(failure, { kind: 'status', status: 400, message, retryAfterSeconds: null });
    });
  }

  const garbage: Record<string, unknown> = {
    nothing: {},
    'a fault of its own': answer([], { finishReason: 'IMAGE_OTHER' }),
    'a file that is not an image': answer([inline(Buffer.from('<svg/>'))]),
    'parts of another shape': {
      candidates: [{ content: { parts: [null, 5, { inlineData: { data: 7 } }] } }],
    },
    'a body that is not JSON': 'oops',
  };
  for (const [what, body] of Object.entries(garbage)) {
    test(`${what} is unreadable`, async (t) => {
      const { failure } = failureOf((await ask(t, answerJson(body))).result);
      assert.equal(failure.kind, 'unreadable');
    });
  }
});

test('a refused key, which comes as a 400, is not blamed on the client', async (t) => {
  const error = {
    code: 400,
    message: 'API key not valid.',
    status: 'INVALID_ARGUMENT',
    details: [{ reason: 'API_KEY_INVALID' }],
  };
  const { result } = await ask(t, answerStatus(400, { body: { error } }));
  assert.equal(failureOf(result).failure.status, 401);
});
