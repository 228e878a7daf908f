// The check of answers finds each kind of difference from the API's description.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { DescribedAnswers } from './described-answers.ts';
import { send } from './http.ts';

let answer: (response: ServerResponse) => void;
const server = createServer((_request, response) => answer(response));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => {
  server.closeAllConnections();
  server.close();
});

/** Returns the problems with an answer to this request. */
async function check(
  [method, path]: readonly [method: string, path: string],
  write: (response: ServerResponse) => void,
): Promise<readonly string[]> {
  const { port } = server.address() as AddressInfo;
  const answers = new DescribedAnswers({ serviceName: 'Service' });
  answers.watch(port);
  answer = write;
  await send(`http://127.0.0.1:${port}${path}`, { method });
  answers.unwatch(port);
  return answers.problems;
}

const ids = { 'x-request-id': 'req_1' };
const json =
  (body: object, { status = 200, headers = {} } = {}) =>
  (response: ServerResponse) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...ids, ...headers })
      .end(JSON.stringify(body));
const events = (text: string) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream', ...ids }).end(text);

const balance = {
  balance_cents: 1,
  total_input_tokens: 0,
  total_output_tokens: 0,
  total_tokens_used: 0,
};
const chunk = { model: 'm', choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }] };
const stream = (...frames: readonly string[]) => frames.map((frame) => `${frame}\n\n`).join('');
const data = (value: object) => `data: ${JSON.stringify(value)}`;

test('answers as described pass', async () => {
  assert.deepEqual(await check(['GET', '/v1/balance'], json(balance)), []);
  const whole = stream(': keep-alive', data(chunk), 'data: [DONE]');
  assert.deepEqual(await check(['POST', '/v1/chat/completions'], events(whole)), []);
});

const wrong: readonly [
  what: string,
  request: readonly [string, string],
  write: (response: ServerResponse) => void,
  problem: RegExp,
][] = [
  ['a missing field', ['GET', '/v1/balance'], json({}), /required property 'balance_cents'/],
  ['an unknown field', ['GET', '/v1/balance'], json({ ...balance, more: 1 }), /additional/],
  ['an unknown status', ['GET', '/v1/balance'], json({}, { status: 418 }), /status is not/],
  [
    'an unknown header',
    ['GET', '/v1/balance'],
    json(balance, { headers: { 'x-service-cost-micros': '1' } }),
    /header x-service-cost-micros is not described/,
  ],
  [
    'a wrong header',
    ['GET', '/v1/balance'],
    json(balance, { headers: { 'x-request-id': 'other' } }),
    /header x-request-id/,
  ],
  ['an unknown error code', ['GET', '/v1/none'], json({ error: {} }, { status: 404 }), /required/],
  ['an unknown operation', ['GET', '/v1/none'], json({}), /operation is not described/],
  ['a wrong content type', ['GET', '/v1/balance'], events(''), /content type text\/event-stream/],
  [
    'a wrong event',
    ['POST', '/v1/chat/completions'],
    events(stream(data({ ...chunk, choices: 1 }))),
    /an event: .*choices must be array/,
  ],
  [
    'an event without its name',
    ['POST', '/v1/messages'],
    events(stream(data({ type: 'message_stop' }))),
    /the event line/,
  ],
  [
    'the end of another format',
    ['POST', '/v1/messages'],
    events(stream('event: done\ndata: [DONE]')),
    /an event/,
  ],
];

for (const [what, request, write, problem] of wrong) {
  test(`${what} is found`, async () => {
    const problems = await check(request, write);
    assert.equal(problems.length, 1, 'one problem');
    assert.match(problems[0]!, problem);
  });
}
