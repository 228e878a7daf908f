import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../canonical/errors.ts';
import { parseCountRequest } from '../../formats/messages/count-tokens.ts';
import type { ImageReading } from '../../lib/image.ts';
import { anthropic } from '../../providers/anthropic/index.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { askForCount, type CountQuestion } from './ask-for-count.ts';
import type { Gateway } from '../gateway.ts';
import { RequestLog } from '../request-log.ts';
import type { ImageFiles } from '../images/image-files.ts';
import type { UpstreamCall } from '../calling/upstream-call.ts';

const timeouts = { connect_ms: 1, first_byte_ms: 1, idle_ms: 1, total_ms: 1 };
const provider = {
  name: 'anthropic',
  kind: anthropic,
  baseUrl: 'http://127.0.0.1:9',
  apiKey: 'k',
  timeouts,
  passFields: new Set<string>(),
  refusedHistory: [],
  refusedFields: [],
  takesCacheSalt: false,
  pricing: { kind: 'anthropic', tool_prices: {} } as const,
};
const route = {
  isPlayed: false,
  provider,
  kind: { ...anthropic, countTokensPath: () => '/count' },
  upstreamModel: 'up',
  format: 'messages',
  name: { provider: 'anthropic', upstreamModel: 'up' },
  rank: 0,
  weight: 1,
  contextTokens: null,
  lacks: new Set<never>(),
  passFields: new Set<string>(),
} as const;

type ReadUrls = ImageFiles['readUrls'];

const imageAt = (url: string) => ({ type: 'image', source: { type: 'url', url } });
const url = 'http://pictures.example/1.png';
const readable: ImageReading = {
  kind: 'image',
  image: { bytes: Buffer.from('png'), mediaType: 'image/png', width: 1, height: 1 },
};

function ask(content: readonly object[], readUrls: ReadUrls, fields: Partial<CountQuestion> = {}) {
  const calls: UpstreamCall[] = [];
  const gateway = {
    clock: new TestClock(),
    config: { pricing: { markup: 1 }, limits: { unknown_fields: 'drop' } },
    routing: { noteUnknown: () => {}, refusedSummaries: { has: () => false } },
    upstreams: {
      send: async (call: UpstreamCall) => {
        calls.push(call);
        return { kind: 'answer', body: { input_tokens: 12 } };
      },
    },
    log: { warn: () => {}, error: () => {} },
    images: { readUrls },
  } as unknown as Gateway;
  const question = {
    requestId: 'req_1',
    key: {
      priceMultiplierPpm: 1_000_000,
      modelMultipliersPpm: null,
    } as unknown as CountQuestion['key'],
    model: {
      id: 'm',
      maxOutputTokens: 100,
      supports: { thinking: true },
    } as CountQuestion['model'],
    request: parseCountRequest({ model: 'm', messages: [{ role: 'user', content }] }),
    routes: [route],
    forwardable: {},
    trace: null,
    log: new RequestLog('req_1'),
    signal: new AbortController().signal,
    ...fields,
  };
  return { counted: askForCount(gateway, question), calls };
}

test('an image by URL is fetched once and sent as base64', async () => {
  const fetched: (readonly string[])[] = [];
  const { counted, calls } = ask([imageAt(url), imageAt(url)], async (urls) => {
    fetched.push(urls);
    return new Map([[url, readable]]);
  });
  assert.equal((await counted)?.inputTokens, 12);
  assert.deepEqual(fetched, [[url]]);
  const [{ content }] = (
    JSON.parse(String(calls[0]?.body)) as { messages: [{ content: object[] }] }
  ).messages;
  const source = {
    type: 'base64',
    media_type: 'image/png',
    data: Buffer.from('png').toString('base64'),
  };
  assert.deepEqual(content, [
    { type: 'image', source },
    { type: 'image', source },
  ]);
});

test('an image that cannot be fetched is a 400 that names its place', async () => {
  const { counted, calls } = ask(
    [imageAt(url)],
    async () => new Map([[url, { kind: 'unreadable', problem: 'is not an image' }]]),
  );
  await assert.rejects(counted, (error) => {
    assert.ok(error instanceof ApiError && error.code === 'invalid_request');
    assert.equal(error.param, 'messages[0].content[0].source.url');
    assert.match(error.message, /source\.url is not an image/);
    return true;
  });
  assert.equal(calls.length, 0);
});

test('no provider is asked when images are too many, cannot be fetched, or take too long', async () => {
  const many = Array.from({ length: 21 }, (_, index) => imageAt(`${url}?${index}`));
  const never: ReadUrls = () => assert.fail('fetched');
  const controller = new AbortController();
  const slow: ReadUrls = async (_urls, signal) => {
    controller.abort();
    signal.throwIfAborted();
    return new Map();
  };
  for (const { counted, calls } of [
    ask(many, never),
    ask([{ type: 'document', source: { type: 'url', url } }], never),
    ask([imageAt(url)], slow, { signal: controller.signal }),
  ]) {
    assert.equal(await counted, null);
    assert.equal(calls.length, 0);
  }
});

test('a field that the credential must not pass is refused before any image is fetched', async () => {
  const never: ReadUrls = () => assert.fail('fetched');
  const content = [imageAt(url), { type: 'document', source: { type: 'file', file_id: 'f' } }];
  await assert.rejects(ask(content, never).counted, /not available here/);
});
