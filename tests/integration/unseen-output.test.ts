// What is charged for output that a provider writes and does not show, when its client leaves in mid-answer.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { pairPrices } from '../support/pairs.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { framesText } from '../support/upstream.ts';

const client = endpoint('chat');
const clock = new TestClock();
let gateway: TestGateway<RunningApp>;

before(async () => {
  const thinker = {
    routes: [{ provider: 'openai', api: 'chat', model: 'upstream-model' }],
    max_input_tokens: 100_000,
    max_output_tokens: 8_000,
    supports: { thinking: true },
    prices: pairPrices,
  };
  gateway = await startGateway({ models: { thinker }, log: { level: 'error' } }, { clock });
});
after(() => gateway.stop());

/** A stream of the thinking model. `say` resolves when the client has it. */
async function openStream() {
  let write: (text: string) => void = () => {};
  gateway.upstream.on(client.upstreamPath, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    write = (content) => {
      const choices = [{ index: 0, delta: { content }, finish_reason: null }];
      response.write(framesText([{ data: { id: 'x', choices } }]));
    };
    write('begin');
  });
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const body = client.body({ model: 'thinker', stream: true, max_completion_tokens: 8_000 });
  const { request, response } = gateway.open(client.path, { key, body });
  let read = '';
  (await response).on('error', () => {}).on('data', (bytes: Buffer) => (read += String(bytes)));
  await until(() => read.includes('begin'));
  let pieces = 0;
  return {
    write: (text: string) => write(text),
    say: async (bytes: number) => {
      const mark = `<${(pieces += 1)}>`;
      write(mark.padStart(bytes, '.'));
      await until(() => read.includes(mark));
    },
    /** Returns the output tokens that the client is charged; the provider has said nothing for the five seconds of being read on. */
    leave: async () => {
      request.destroy();
      await until(() => clock.dueIn(5_000) === 1);
      await clock.advance(5_000);
      type Usage = { data: { output_tokens: number }[] };
      const record = await until(async () => (await gateway.get('/v1/usage', { key })).json<Usage>().data[0]);
      return record.output_tokens;
    },
  };
}

/** 100 tokens a second, while the stream is read on. */
const readOnTokens = 500;

test('a time in which more had to be held is no silence of the provider', async () => {
  type Ledger = typeof gateway.program.app.gateway.ledger;
  const ledger: { submit: Ledger['submit'] } = gateway.program.app.gateway.ledger;
  const { submit } = ledger;
  const stream = await openStream();
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  ledger.submit = async (command) => {
    asked.resolve();
    await answered.promise;
    return submit(command);
  };
  stream.write('y'.repeat(12_000 - 'begin'.length - 400));
  await asked.promise;
  await clock.advance(20_000);
  ledger.submit = submit;
  answered.resolve();
  await stream.say(400);
  assert.equal(await stream.leave(), 3_000 + readOnTokens);
});

test('what is shown after a silence was written in it, and is charged once', async () => {
  const stream = await openStream();
  // 200 tokens every two seconds, in which as many might have been written unseen.
  for (let piece = 0; piece < 10; piece++) {
    await clock.advance(2_000);
    await stream.say(800);
  }
  const shownTokens = Math.ceil(('begin'.length + 8_000) / 4);
  assert.equal(await stream.leave(), shownTokens + readOnTokens);
});
