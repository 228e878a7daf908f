// Upstream output that the gateway discards does not grow the process.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { streamFrames } from '../../support/answers.ts';
import { endpoint } from '../../support/endpoints.ts';
import { startGatewayProgram, type TestGateway } from '../../support/gateway.ts';
import { canMeasure, residentBytes } from '../../support/process-memory.ts';
import type { Program } from '../../support/program.ts';
import { checkStream } from '../../support/stream-rules.ts';
import { answerSse, type SseFrame } from '../../support/upstream.ts';

const upstreams = {
  chat: { route: { provider: 'local', model: 'm' }, path: '/local/v1/chat/completions' },
  responses: { route: { provider: 'openai', model: 'm', api: 'responses' }, path: '/v1/responses' },
  messages: { route: { provider: 'anthropic', model: 'm' }, path: '/v1/messages' },
} as const;

let gateway: TestGateway<Program>;
let key: string;

before(async () => {
  const model = (route: object) => ({
    routes: [route],
    max_input_tokens: 100_000,
    max_output_tokens: 10_000,
    prices: { input: 1, output: 1 },
  });
  gateway = await startGatewayProgram({
    models: Object.fromEntries(
      Object.entries(upstreams).map(([name, { route }]) => [`on-${name}`, model(route)]),
    ),
  });
  ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 10 }));
});
after(() => gateway.stop());

const pairs = [
  ['chat', 'messages'],
  ['responses', 'chat'],
  ['messages', 'responses'],
] as const;

for (const [upstream, client] of pairs) {
  test(`a hundred useless megabytes are not kept in memory: ${upstream} to ${client}`, async (t) => {
    if (!canMeasure) return t.skip('memory is only measured where /proc tells it');
    const { start, deltas, end } = streamFrames(upstream, {
      text: 'Hello there',
      tokens: { input: 5, output: 2 },
    });
    const junk: SseFrame = {
      event: 'ping',
      data: { type: 'ping', choices: [], odd: 'x'.repeat(10_000) },
    };
    const { path, body } = endpoint(client);
    const streamWithJunk = async (count: number) => {
      const frames = [...start, ...Array.from({ length: count }, () => junk), ...deltas, ...end];
      gateway.upstream.on(upstreams[upstream].path, answerSse(frames));
      const reply = await gateway.post(path, {
        key,
        body: body({ model: `on-${upstream}`, stream: true }),
      });
      assert.deepEqual(checkStream(client, reply.text), { ending: 'success', text: 'Hello there' });
    };
    // The first stream loads code, and V8 may collect garbage late. If one was kept, all would be.
    const growths: number[] = [];
    for (let streams = 0; streams < 4; streams++) {
      const startBytes = residentBytes(gateway.program.pid);
      await streamWithJunk(10_000);
      growths.push(residentBytes(gateway.program.pid) - startBytes);
    }
    const grownBytes = Math.min(...growths);
    t.diagnostic(`the program has grown by ${Math.round(grownBytes / 1e6)} MB`);
    assert.ok(
      grownBytes < 50_000_000,
      `the program has grown by ${Math.round(grownBytes / 1e6)} MB`,
    );
  });
}
