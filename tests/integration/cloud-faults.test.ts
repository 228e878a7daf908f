// What clouds answer when they fail, to clients of each format: the right status, free of charge, with
// another route where that may help, and nothing about the operator's account in it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { UpstreamFormatName } from '../../src/terms/format-name.ts';
import { streamFrames, wholeAnswer } from '../support/answers.ts';
import { coherePieces, cohereWhole } from '../support/cohere-answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { encodeFrames, type Framing } from '../support/model-hosts.ts';
import { answerBytes, answerJson, answerStatus, type Script } from '../support/upstream.ts';

const content = { text: 'one two three', tokens: { input: 5, output: 20 } };
const secrets = ['azure-key-123456', 'bedrock-api-key-abc', 'my-secret-project', '123456789012'];
const binary = { headers: { 'content-type': 'application/vnd.amazon.eventstream' } };
const sse = { headers: { 'content-type': 'text/event-stream' } };

type Cloud = {
  readonly name: string;
  readonly provider: object;
  readonly model: string;
  readonly paths: readonly [whole: string, stream: string];
  readonly whole: object;
  /** Each piece is one event. */
  readonly pieces: readonly Buffer[];
  readonly headers: typeof binary;
  /** Pieces after which the answer is complete, and charged. */
  readonly complete: number;
};

function piecesOf(wire: UpstreamFormatName, framing: Framing): readonly Buffer[] {
  const { start, deltas, end } = streamFrames(wire, content);
  return [...start, ...deltas, ...end].map((frame) => encodeFrames(framing, [frame]));
}

const clouds: readonly Cloud[] = [
  {
    name: 'azure',
    provider: { kind: 'azure', api_key: secrets[0] },
    model: 'claude-prod',
    paths: ['/azure/anthropic/v1/messages', '/azure/anthropic/v1/messages'],
    whole: wholeAnswer('messages', content),
    pieces: piecesOf('messages', 'sse'),
    headers: sse,
    complete: piecesOf('messages', 'sse').length - 1,
  },
  {
    name: 'bedrock',
    provider: { kind: 'bedrock', api_key: secrets[1] },
    model: 'amazon.nova-lite-v1:0',
    paths: [
      '/bedrock/model/amazon.nova-lite-v1%3A0/converse',
      '/bedrock/model/amazon.nova-lite-v1%3A0/converse-stream',
    ],
    whole: wholeAnswer('converse', content),
    pieces: piecesOf('converse', 'converse'),
    headers: binary,
    complete: piecesOf('converse', 'converse').length - 1,
  },
  {
    name: 'bedrock-claude',
    provider: { kind: 'bedrock', api_key: secrets[1] },
    model: 'us.anthropic.claude-sonnet-5',
    paths: [
      '/bedrock-claude/model/us.anthropic.claude-sonnet-5/invoke',
      '/bedrock-claude/model/us.anthropic.claude-sonnet-5/invoke-with-response-stream',
    ],
    whole: wholeAnswer('messages', content),
    pieces: piecesOf('messages', 'invoke'),
    headers: binary,
    complete: piecesOf('messages', 'sse').length - 1,
  },
  {
    name: 'vertex',
    provider: { kind: 'vertex', project: secrets[2], api_key: 'express-key-1234' },
    model: 'gemini-3.8-flash',
    paths: [
      `/vertex/v1beta1/projects/${secrets[2]}/locations/global/publishers/google/models/gemini-3.8-flash:generateContent`,
      `/vertex/v1beta1/projects/${secrets[2]}/locations/global/publishers/google/models/gemini-3.8-flash:streamGenerateContent`,
    ],
    whole: wholeAnswer('gemini', content),
    pieces: piecesOf('gemini', 'sse'),
    headers: sse,
    complete: piecesOf('gemini', 'sse').length,
  },
  {
    name: 'cohere',
    provider: { kind: 'cohere', api_key: 'cohere-key-1234' },
    model: 'command-a-03-2025',
    paths: ['/cohere/v2/chat', '/cohere/v2/chat'],
    whole: cohereWhole(content),
    pieces: coherePieces(content),
    headers: sse,
    // `[DONE]` says nothing more.
    complete: coherePieces(content).length - 1,
  },
];

let gateway: TestGateway;
let key: string;

before(async () => {
  gateway = await startGateway(({ url }) => ({
    providers: {
      ...Object.fromEntries(
        clouds.map(({ name, provider }) => [name, { ...provider, base_url: `${url}/${name}` }]),
      ),
      spare: { kind: 'openai-compatible', base_url: `${url}/spare/v1`, api_key: 'none' },
    },
    models: Object.fromEntries(
      clouds.flatMap(({ name, model }) => {
        const route = { provider: name, model };
        const prices = { input: 1, output: 1 };
        const spare = { provider: 'spare', model: 's' };
        return [
          [`${name}-alone`, { routes: [route], prices }],
          [`${name}-both`, { routes: [route, spare], prices }],
        ];
      }),
    ),
    retries: { max_attempts: 1 },
  }));
  ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 }));
  gateway.upstream.on('/spare/v1/chat/completions', answerJson(wholeAnswer('chat', content)));
});
after(() => gateway.stop());

const balance = async () => (await gateway.get('/v1/balance', { key })).text;

/**
 * `client`: the request is at fault, with every route. `route`: another route, and no words. `passes`:
 * another route.
 */
type Fault = {
  readonly host: string;
  readonly verdict: 'client' | 'route' | 'passes';
  readonly status: number;
  readonly body: unknown;
};
const file = join(import.meta.dirname, '..', 'answers', 'cloud-errors.jsonl');
const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
const faults = lines.map((line) => JSON.parse(line) as Fault);

for (const { name, paths } of clouds) {
  const own = faults.filter(({ host }) => host === name);
  for (const [index, { status, body, verdict }] of own.entries()) {
    test(`${name} answers ${status} ${JSON.stringify(body).slice(0, 60)}: ${verdict}`, async () => {
      for (const path of paths) gateway.upstream.on(path, answerStatus(status, { body }));
      const earlier = await balance();
      // Errors in each format are the subject of `errors`.
      const client = endpoints[index % endpoints.length]!;
      for (const stream of [false, true]) {
        const ask = (model: string) =>
          gateway.post(client.path, { key, body: client.body({ model, stream }) });
        const alone = await ask(`${name}-alone`);
        assert.ok(alone.status >= 400, alone.text);
        const isClients = alone.status < 500;
        // A model that is not there is said as the request's fault when no other route has it.
        if (verdict !== 'route') assert.equal(isClients, verdict === 'client', alone.text);
        for (const secret of secrets) assert.ok(!alone.text.includes(secret), alone.text);
        assert.equal(await balance(), earlier);
      }
      const both = await gateway.post('/v1/chat/completions', {
        key,
        body: { model: `${name}-both`, messages: [{ role: 'user', content: 'Hi' }] },
      });
      assert.equal(both.status, verdict === 'client' ? 400 : 200, both.text);
    });
  }
}

for (const { name, paths, pieces, headers, complete, whole } of clouds) {
  test(`${name}: a stream that ends early is free, and one that is complete is charged`, async () => {
    gateway.upstream.on(paths[0], answerJson(whole));
    for (let sent = 0; sent <= pieces.length; sent++)
      // A client of Claude's own format, whose answer is relayed, and one of another.
      for (const client of [endpoint('messages'), endpoints[sent % 2]!]) {
        const cut: Script = answerBytes(Buffer.concat(pieces.slice(0, sent)), headers);
        gateway.upstream.on(paths[1], cut);
        if (paths[0] === paths[1] && sent === 0) continue;
        const earlier = await balance();
        const body = client.body({ model: `${name}-alone`, stream: true });
        const reply = await gateway.post(client.path, { key, body });
        const isCharged = (await balance()) !== earlier;
        assert.equal(isCharged, sent >= complete, `${client.name} ${sent} ${reply.text}`);
        if (!isCharged) assert.match(reply.text, /error/);
      }
  });

  test(`${name}: an answer that cannot be read is a loss of what is billed for it`, async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const text = JSON.stringify({ ...whole, extra: 'DEEP' }).replace('"DEEP"', deep);
    gateway.upstream.on(
      paths[0],
      answerBytes(Buffer.from(text), { headers: { 'content-type': 'application/json' } }),
    );
    const earlier = await balance();
    for (const client of endpoints) {
      const body = client.body({ model: `${name}-alone` });
      const reply = await gateway.post(client.path, { key, body });
      assert.equal(reply.status, 502, reply.text);
      assert.deepEqual(await gateway.lossesOf(reply.requestId), [25]);
    }
    assert.equal(await balance(), earlier);
  });

  test(`${name}: a redirect is not followed with the credential`, async () => {
    const script: Script = (response) => {
      response.writeHead(307, { location: `${gateway.upstream.url}/stolen` }).end();
    };
    for (const path of paths) gateway.upstream.on(path, script);
    const body = { model: `${name}-alone`, messages: [{ role: 'user', content: 'Hi' }] };
    const { reply, asked } = await gateway.postRecorded('/v1/chat/completions', { key, body });
    assert.equal(reply.status, 502, reply.text);
    assert.ok(asked.every(({ path }) => path !== '/stolen'));
  });
}
