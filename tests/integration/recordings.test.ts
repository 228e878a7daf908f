// Plays every upstream answer, our own and the recorded ones, through the started program to a
// client of each format: the client reads the provider's content and is charged for the tokens that
// the provider counted.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ClientFormatName } from '../../src/terms/format-name.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { assertAgrees, isFailure, readPlainly } from '../support/plain/read-plainly.ts';
import type { Reading, WireFormatName } from '../support/plain/reading.ts';
import { loadCloudAnswers } from '../support/cloud-recordings.ts';
import { isAsked, loadRecordings, type Recording } from '../support/recordings.ts';
import { checkStream } from '../support/stream-rules.ts';
import { answerBytes } from '../support/upstream.ts';

/** Usage is cut to what the request could cause, which is a token for each byte. */
const promptOf = ({ usage }: Reading) => ' the'.repeat(Math.ceil((usage?.input ?? 0) / 4) + 10);

type Client = { readonly path: string; readonly body: (prompt: string) => object };

const clients: Readonly<Record<ClientFormatName, Client>> = {
  responses: { path: '/v1/responses', body: (input) => ({ input }) },
  chat: {
    path: '/v1/chat/completions',
    body: (content) => ({ messages: [{ role: 'user', content }] }),
  },
  messages: {
    path: '/v1/messages',
    body: (content) => ({ max_tokens: 100_000, messages: [{ role: 'user', content }] }),
  },
  gemini: {
    path: '/v1beta/models/',
    body: (text) => ({
      contents: [{ parts: [{ text }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    }),
  },
};

/** The paths for a format's recordings, whole and streamed. */
const upstreamPaths: Readonly<Record<WireFormatName, readonly [whole: string, streamed: string]>> =
  {
    responses: ['/v1/responses', '/v1/responses'],
    chat: ['/local/v1/chat/completions', '/local/v1/chat/completions'],
    messages: ['/v1/messages', '/v1/messages'],
    gemini: [
      '/v1beta/models/recorded:generateContent',
      '/v1beta/models/recorded:streamGenerateContent',
    ],
  };

/** The client's error for a provider's status. */
const clientStatus: Readonly<Record<number, number>> = {
  400: 400,
  401: 502,
  404: 400,
  429: 503,
  529: 503,
};

const clientNames = Object.keys(clients) as ClientFormatName[];

const model = (provider: string, api?: string) => ({
  routes: [{ provider, model: 'recorded', ...(api && { api }) }],
  max_input_tokens: 2_000_000,
  max_output_tokens: 500_000,
  prices: { input: 1, output: 1 },
});
const gateway = await startGateway((upstream) => ({
  providers: { google: { kind: 'google', base_url: upstream.url, api_key: 'none' } },
  models: {
    'recorded-chat': model('local'),
    'recorded-responses': model('openai', 'responses'),
    'recorded-messages': model('anthropic'),
    'recorded-gemini': model('google'),
  },
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 10_000 });
after(() => gateway.stop());

for (const [index, recording] of [...loadRecordings(), ...loadCloudAnswers()].entries()) {
  // `tests/recordings.test.ts` has each recording for each client. Here the clients take turns, so that
  // each pair has many recordings. Whole and streamed ones follow one another, so each round begins with
  // another client.
  const round = Math.floor(index / clientNames.length);
  const client = clientNames[(index + round) % clientNames.length]!;
  test(`${recording.file} reaches a ${client} client`, async () => {
    const { format, stream, bytes } = recording;
    const recorded = readPlainly(format, stream, bytes.toString('utf8'));
    const reply = await play(recording, client, promptOf(recorded));
    if (recording.status !== 200) checkRefusal(reply, recording);
    else if (isFailure(recorded, recording, client)) await checkFailure(reply, recording, client);
    else await checkAnswer({ reply, recording, recorded, client });
  });
}

async function play(
  { format, stream, status, bytes }: Recording,
  client: ClientFormatName,
  prompt: string,
): Promise<Reply> {
  const headers = { 'content-type': stream ? 'text/event-stream' : 'application/json' };
  gateway.upstream.on(
    upstreamPaths[format][stream ? 1 : 0],
    answerBytes(bytes, { status, headers, sizes: [1, 7, 300, 4_000] }),
  );
  const { path, body } = clients[client];
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  if (client === 'gemini')
    return gateway.post(`${path}recorded-${format}:${method}`, { key, body: body(prompt) });
  const usage = client === 'chat' && stream ? { stream_options: { include_usage: true } } : {};
  return gateway.post(path, {
    key,
    body: { model: `recorded-${format}`, stream, ...body(prompt), ...usage },
  });
}

function checkRefusal(reply: Reply, { status, bytes }: Recording): void {
  // Google and xAI answer a wrong key with 400, and OpenAI an empty account with 429.
  const isAccounts = /API_KEY_INVALID|Incorrect API key|insufficient_quota/.test(
    bytes.toString('utf8'),
  );
  const upstreamStatus = isAccounts ? 401 : status;
  assert.equal(reply.status, clientStatus[upstreamStatus], reply.text);
  assert.ok(reply.error.message.length > 10);
}

/** The provider failed, possibly mid-stream: the client gets an error and is not charged. */
async function checkFailure(
  reply: Reply,
  { stream, bytes }: Recording,
  client: ClientFormatName,
): Promise<void> {
  if (reply.status === 200)
    assert.deepEqual([stream, checkStream(client, reply.text).ending], [true, 'error']);
  else {
    // Azure, Groq and OpenRouter say behind a status 200 that the request was at fault.
    const isClients = /"(?:status|code|status_code)":\s*400/.test(bytes.toString('utf8'));
    assert.ok((isClients ? [400] : [502, 503]).includes(reply.status), reply.text);
  }
  assert.deepEqual(await gateway.usage<Charge>(key, reply.requestId), []);
}

type Answered = {
  readonly reply: Reply;
  readonly recording: Recording;
  readonly recorded: Reading;
  readonly client: ClientFormatName;
};

async function checkAnswer({ reply, recording, recorded, client }: Answered): Promise<void> {
  const { file, format, stream } = recording;
  assert.equal(reply.status, 200, reply.text);
  const straight = format === client;
  if (stream && (isAsked(file, 'rules') || !straight))
    checkStream(client, reply.text, { usageAsked: client === 'chat', straight });
  assertAgrees(readPlainly(client, stream, reply.text), recorded, client, {
    stop: isAsked(file, 'stop'),
  });
  const [charge] = await gateway.usage<Charge>(key, reply.requestId);
  assert.ok(charge, reply.text.slice(-500));
  const { input = 0, output = 0 } = recorded.usage ?? {};
  if (input > 0) assert.equal(charge.input_tokens, input);
  if (output > 0) assert.equal(charge.output_tokens, output);
}

type Charge = { readonly input_tokens: number; readonly output_tokens: number };
