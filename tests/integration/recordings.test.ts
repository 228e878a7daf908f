// Recorded answers of real providers, played by the local upstream through the started program along the straight path: the client
// reads the same text, and is charged for the tokens that the provider counted.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { answerBytes, readRecording } from '../support/upstream.ts';

type Recording = { readonly file: string; readonly format: string; readonly stream: boolean; readonly status: number };
type Json = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- recordings have no type, and are read plainly

const index = join(import.meta.dirname, '..', '..', '..', 'shared', 'fixtures', 'index.json');
const recordings = existsSync(index) ? (JSON.parse(readFileSync(index, 'utf8')) as Recording[]) : [];

/** How each wire format is asked for, and where its recordings are played. */
const wires: Readonly<Record<string, { path: string; upstreamPath: string; model: string; body: Json }>> = {
  'openai-chat': {
    path: '/v1/chat/completions',
    upstreamPath: '/local/v1/chat/completions',
    model: 'recorded-chat',
    body: { messages: [{ role: 'user', content: 'x' }] },
  },
  'openai-responses': { path: '/v1/responses', upstreamPath: '/v1/responses', model: 'recorded-responses', body: { input: 'x' } },
  anthropic: {
    path: '/v1/messages',
    upstreamPath: '/v1/messages',
    model: 'recorded-messages',
    body: { max_tokens: 1_000, messages: [{ role: 'user', content: 'x' }] },
  },
};

/** The provider failed in mid-stream: the client is told so, and not charged. */
const failed = 'openai-responses/stream/ai--openai-error.1.sse';
/** Two answers, one after the other, in one file: a request has one. */
const twoAnswers = [
  'openai-responses/stream/ai--openai-shell-tool.1.sse',
  'anthropic/stream/ai--anthropic-tool-search-bm25.1.sse',
];

let gateway: TestGateway;
let key: string;

before(async () => {
  const model = (provider: string) => ({
    routes: [{ provider, model: 'recorded' }],
    max_input_tokens: 2_000_000,
    max_output_tokens: 500_000,
    prices: { input: 1, output: 1 },
  });
  gateway = await startGateway({
    models: { 'recorded-chat': model('local'), 'recorded-responses': model('openai'), 'recorded-messages': model('anthropic') },
  });
  ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 1_000 }));
});
after(() => gateway.stop());

test('the recordings are there', async (t) => {
  // Says so where they are absent, and fails in CI.
  await readRecording(t, 'index.json');
});

for (const { file, format, stream, status } of recordings) {
  const wire = wires[format];
  if (!wire) continue;
  test(`${file} reaches the client`, async (t) => {
    const bytes = await readRecording(t, file);
    if (!bytes) return;
    gateway.upstream.on(
      wire.upstreamPath,
      answerBytes(bytes, {
        status,
        headers: { 'content-type': stream ? 'text/event-stream' : 'application/json' },
        sizes: [1, 7, 300, 4_000],
      }),
    );
    const reply = await gateway.post(wire.path, { key, body: { model: wire.model, stream, ...wire.body } });
    if (status !== 200) {
      assert.equal(reply.status, { 400: 400, 401: 502, 404: 400, 429: 503 }[status]);
      return;
    }
    if (file === failed) {
      assert.match(reply.text, /response\.failed/);
      assert.equal((await usageOf(reply.headers['x-request-id'])).length, 0);
      return;
    }
    const recorded = readPlainly(format, stream, bytes.toString('utf8'));
    const received = readPlainly(format, stream, reply.text);
    if (twoAnswers.includes(file)) assert.ok(recorded.text.startsWith(received.text));
    else assert.equal(received.text, recorded.text);
    const [record] = await usageOf(reply.headers['x-request-id']);
    assert.ok(record, reply.text.slice(-500));
    if (recorded.usage && !twoAnswers.includes(file))
      assert.deepEqual([record.input_tokens, record.output_tokens], recorded.usage);
  });
}

async function usageOf(requestId: unknown): Promise<Json[]> {
  const reply = await gateway.get(`/v1/usage?request_id=${String(requestId)}`, { key });
  return reply.json<{ data: Json[] }>().data;
}

type PlainReading = { readonly text: string; readonly usage: readonly [input: number, output: number] | null };

function readPlainly(format: string, stream: boolean, text: string): PlainReading {
  const events = stream ? eventsOf(text) : [JSON.parse(text) as Json];
  if (format === 'openai-chat') return readChat(events, stream);
  return format === 'anthropic' ? readMessages(events, stream) : readResponses(events, stream);
}

function eventsOf(text: string): Json[] {
  const data = text.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []));
  return data.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Json);
}

function readChat(events: Json[], stream: boolean): PlainReading {
  const choices = events.flatMap((event) => (event['choices'] ?? []) as Json[]);
  const text = choices.map((choice) => (stream ? choice['delta'] : choice['message'])?.content ?? '').join('');
  const usage = events.map((event) => event['usage']).findLast(Boolean);
  return { text, usage: usage ? [usage.prompt_tokens, chatOutput(usage)] : null };
}

/** xAI counts its reasoning beside the completion, as its total shows. */
function chatOutput(usage: Json): number {
  const beside = usage['total_tokens'] - usage['prompt_tokens'] - usage['completion_tokens'];
  return (
    usage['completion_tokens'] + (beside > 0 && beside === usage['completion_tokens_details']?.reasoning_tokens ? beside : 0)
  );
}

function readResponses(events: Json[], stream: boolean): PlainReading {
  const response = stream ? events.findLast((event) => event['response']?.usage)?.['response'] : events[0];
  const parts = ((response?.output ?? []) as Json[]).flatMap((item) =>
    item['type'] === 'message' ? (item['content'] as Json[]) : [],
  );
  const usage = response?.usage;
  return {
    text: parts.map((part) => part['text'] ?? '').join(''),
    usage: usage ? [usage.input_tokens, usage.output_tokens] : null,
  };
}

function readMessages(events: Json[], stream: boolean): PlainReading {
  const text = stream
    ? events.map((event) => event['delta']?.text ?? event['content_block']?.text ?? '').join('')
    : (events[0]!['content'] as Json[]).map((block) => block['text'] ?? '').join('');
  const usages = events.map((event) => event['usage'] ?? event['message']?.usage).filter(Boolean) as Json[];
  const merged = Object.assign({}, ...usages) as Json;
  const input = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'].map(
    (name) => (merged[name] as number) ?? 0,
  );
  return { text, usage: [input.reduce((sum, count) => sum + count, 0), merged['output_tokens'] as number] };
}
