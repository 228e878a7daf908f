// A client's W3C trace context: what the providers and the log get of it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, upstreamKey, type TestGateway } from '../support/gateway.ts';
import { bflAt, imagePaths, playImageProviders } from '../support/image-upstreams.ts';
import { png } from '../support/images/local-image-provider.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { endpointOf, startTwoRoutes, type TwoRoutes } from '../support/two-routes.ts';
import { answerJson, answerStatus, type LocalUpstream } from '../support/upstream.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const tracestate = 'vendor=opaque:value,other@tenant=2';
const traced = { traceparent: `00-${traceId}-${parentId}-01`, tracestate };

type Sent = LocalUpstream['requests'];

/** Checks that every request continues the trace, and returns their parent ids. */
function parentsOf(sent: Sent): readonly string[] {
  return sent.map(({ headers, path }) => {
    const [, parent] =
      new RegExp(`^00-${traceId}-([0-9a-f]{16})-01$`).exec(String(headers['traceparent'])) ?? [];
    assert.ok(parent, `${path}: ${String(headers['traceparent'])}`);
    assert.equal(headers['tracestate'], tracestate);
    return parent;
  });
}

function assertUntraced(sent: Sent): void {
  for (const { headers, path } of sent)
    assert.deepEqual([headers['traceparent'], headers['tracestate']], [undefined, undefined], path);
}

function logLinesOf(gateway: TestGateway<RunningApp>, requestId: string): object[] {
  return gateway.program.output
    .split('\n')
    .filter((line) => line.includes(requestId) && line.includes('"msg":"request"'))
    .map((line) => JSON.parse(line) as object);
}

void describe('a model that is called twice', () => {
  let two: TwoRoutes;
  let key: string;
  before(async () => {
    two = await startTwoRoutes();
    ({ key } = await two.gateway.makeKey({ mode: 'live', creditUsd: 5 }));
  });
  after(() => two.stop());

  for (const { name, path, body } of endpoints) {
    for (const stream of [false, true]) {
      test(`${name}, stream ${stream}: each call continues the trace with a parent id of its own`, async () => {
        const ok = answerContent(name, { text: 'yes', tokens: { input: 4, output: 1 } });
        two.play(name, [answerStatus(401)], [ok]);
        const [first, second] = [two.first.requests.length, two.second.requests.length];
        const ask = (headers: Readonly<Record<string, string>>) =>
          two.gateway.post(path, { key, headers, body: body({ model: `two-${name}`, stream }) });
        const reply = await ask(traced);
        assert.equal(reply.status, 200, reply.text);
        const sent = [...two.first.requests.slice(first), ...two.second.requests.slice(second)];
        assert.equal(sent.length, 2);
        assert.equal(new Set([...parentsOf(sent), parentId]).size, 3);
        assert.equal(reply.headers['traceparent'], undefined);

        const earlier = two.second.requests.length;
        await ask({});
        await ask({ ...traced, traceparent: `00-${'0'.repeat(32)}-${parentId}-01` });
        await ask({ tracestate });
        const untraced = two.second.requests.slice(earlier);
        assert.equal(untraced.length, 3);
        assertUntraced(untraced);
      });
    }
  }
});

void describe('everything else', () => {
  const clock = new TestClock();
  let gateway: TestGateway<RunningApp>;
  let key: string;
  before(async () => {
    gateway = await startGateway(
      (upstream) => ({
        log: { level: 'info' },
        providers: {
          bfl: bflAt(upstream, upstreamKey),
          tavily: { base_url: `${upstream.url}/tavily`, api_key: upstreamKey },
        },
        images: { allowed_hosts: [new URL(upstream.url).host] },
        search: { price_usd: 0.005 },
      }),
      { clock },
    );
    ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 }));
    playImageProviders(gateway.upstream);
    gateway.upstream.on('/tavily/search', answerJson({ results: [] }));
    gateway.upstream.on('/v1/messages/count_tokens', answerJson({ input_tokens: 7 }));
    gateway.upstream.on('/v1/responses/input_tokens', answerJson({ input_tokens: 7 }));
    gateway.upstream.on('/client.png', (response) => {
      response.writeHead(200, { 'content-type': 'image/png' }).end(png);
    });
  });
  after(() => gateway.stop());

  const ask = (path: string, body: object) =>
    gateway.recordUpstream(() =>
      clock.skipWaits(gateway.post(path, { key, headers: traced, body })),
    );

  test('a search and counts of tokens continue it', async () => {
    const messages = [{ role: 'user', content: 'Hello!' }];
    for (const [path, body] of [
      ['/v1/web-search', { query: 'cats' }],
      ['/v1/messages/count_tokens', { model: 'claude-haiku-4-5', messages }],
      ['/v1/responses/input_tokens', { model: 'gpt-6-luna', input: 'Hello!' }],
    ] as const) {
      const { reply, asked } = await ask(path, body);
      assert.equal(reply.status, 200, reply.text);
      assert.equal(asked.length, 1, path);
      parentsOf(asked);
    }
  });

  test('the provider of an image gets it; addresses that the provider or the client names do not', async () => {
    const drawn = await ask('/v1/images/generations', { model: 'flux-2', prompt: 'A fox' });
    assert.equal(drawn.reply.status, 200, drawn.reply.text);
    const isSubmit = ({ path }: Sent[number]) => path === imagePaths.bfl();
    assert.equal(parentsOf(drawn.asked.filter(isSubmit)).length, 1);
    const others = drawn.asked.filter((request) => !isSubmit(request));
    assert.deepEqual(new Set(others.map(({ path }) => path)).size, 2, 'a poll and the image');
    assertUntraced(others);

    const edited = await ask('/v1/images/edits', {
      model: 'gpt-image-flare-edit',
      prompt: 'A fox',
      images: [`${gateway.upstream.url}/client.png`],
    });
    assert.equal(edited.reply.status, 200, edited.reply.text);
    const [fetched, ...edits] = edited.asked;
    assert.equal(fetched!.path, '/client.png');
    assertUntraced([fetched!]);
    assert.equal(parentsOf(edits).length, 1);
  });

  test('the log line has the trace id, also of a request that is refused; without a trace it has none', async () => {
    const send = async (headers: Readonly<Record<string, string>>, sentKey = key) => {
      const { path, body } = endpointOf('chat');
      const reply = await gateway.post(path, { key: sentKey, headers, body: body({ model: 'x' }) });
      const [line, ...others] = logLinesOf(gateway, reply.requestId);
      assert.equal(others.length, 0);
      return line as { readonly trace_id?: string };
    };
    assert.equal((await send(traced)).trace_id, traceId);
    assert.equal((await send(traced, 'tg_live_wrong')).trace_id, traceId);
    assert.equal('trace_id' in (await send({})), false);
    assert.equal('trace_id' in (await send({ traceparent: 'secret words' })), false);
  });
});
