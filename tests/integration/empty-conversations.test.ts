// Conversations without user text, from every client format to every upstream format. No empty
// message is sent upstream, instructions alone are sent as the prompt, a model's last turn is not
// continued by mistake, and an empty conversation gets a 400.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { WireName } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { answerEachWire, modelsByWire } from '../support/model-of.ts';
import type { Json } from '../support/plain/reading.ts';

const upstreams = { R: 'responses', C: 'chat', M: 'messages', G: 'gemini' } as const;
type Upstream = keyof typeof upstreams;

const gateway = await startGateway({ models: modelsByWire });
answerEachWire(gateway.upstream);
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());

/** System (`S`), user (`U`) and assistant (`A`) turns with their text. */
type Turn = readonly ['system' | 'user' | 'assistant', string];
type Conversation = readonly Turn[];

const standIn: Turn = ['user', '(empty message)'];
const question: Turn = ['user', 'Hi'];
const answer: Turn = ['assistant', 'Hello'];
const blanks = ['', ' \n\t '];

/** What is sent upstream; null: a 400. */
const table: readonly (readonly [name: string, from: Conversation, to: Conversation | null])[] = [
  ['instructions alone', [['system', 'Greet.']], [['user', 'Greet.']]],
  ...blanks.flatMap((blank): (typeof table)[number][] => {
    const silent: Turn = ['user', blank];
    const what = JSON.stringify(blank);
    return [
      [`instructions and ${what}`, [['system', 'Greet.'], silent], [['user', 'Greet.']]],
      [`${what} alone`, [silent], null],
      [`blank instructions and ${what}`, [['system', blank], silent], null],
      [`${what} at the end`, [question, answer, silent], [question, answer, standIn]],
      [
        `${what} in the middle`,
        [question, answer, silent, answer, question],
        [question, answer, standIn, answer, question],
      ],
      [`${what} at the start`, [silent, answer, question], [standIn, answer, question]],
      [`${what} beside what the user says`, [silent, question], [question]],
      [`an answer of ${what}`, [question, ['assistant', blank], question], [question, question]],
      [`blank instructions of ${what}`, [['system', blank], question], [question]],
    ];
  }),
];

for (const [name, from, to] of table) {
  for (const client of ['responses', 'chat', 'messages'] as const) {
    test(`${name}, from ${client}`, async () => {
      for (const upstream of Object.keys(upstreams) as Upstream[]) {
        if (upstreams[upstream] === client) continue;
        const { status, error, sent } = await ask(
          client,
          upstream,
          conversationFields(client, from),
        );
        if (to === null) {
          assert.deepEqual([status, sent], [400, null], `${client} to ${upstream}`);
          assert.equal(error?.param, client === 'responses' ? 'input' : 'messages');
          assert.match(error?.message, /empty/);
        } else {
          assert.equal(status, 200, `${client} to ${upstream}: ${error?.message}`);
          assert.deepEqual(readTurns(upstream, sent!), mergeTurns(to), `${client} to ${upstream}`);
          assert.deepEqual(findEmpty(sent), [], JSON.stringify(sent));
        }
      }
    });
  }
}

test('a last assistant turn is a prefill only if the client’s format has prefills', async () => {
  for (const upstream of ['R', 'M', 'G'] as const) {
    const { sent } = await ask('chat', upstream, conversationFields('chat', [question, answer]));
    if (sent) assert.deepEqual(readTurns(upstream, sent), [question, answer, standIn], upstream);
  }
  const { sent } = await ask('messages', 'G', conversationFields('messages', [question, answer]));
  assert.deepEqual(readTurns('G', sent!), [question, answer]);
  const { sent: unfilled } = await ask(
    'messages',
    'G',
    conversationFields('messages', [question, ['assistant', ' ']]),
  );
  assert.deepEqual(readTurns('G', unfilled!), [question]);
});

test('a blank text beside a tool result is left out', async () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' };
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [result, { type: 'text', text: ' ' }] },
  ];
  for (const upstream of ['R', 'C', 'G'] as const) {
    const { status, sent } = await ask('messages', upstream, { messages });
    assert.equal(status, 200);
    assert.ok(
      JSON.stringify(sent).includes('sunny') && !JSON.stringify(sent).includes(standIn[1]),
      JSON.stringify(sent),
    );
    assert.deepEqual(findEmpty(sent), []);
  }
});

test('an empty user turn is left out, and one with only an image is sent', async () => {
  const data = 'iVBORw0KGgo=';
  for (const upstream of ['R', 'C', 'G'] as const) {
    const empty = await ask('messages', upstream, {
      messages: [{ role: 'user', content: [] }],
      system: 'Greet.',
    });
    assert.deepEqual(readTurns(upstream, empty.sent!), [['user', 'Greet.']]);
  }
  for (const upstream of ['R', 'C'] as const) {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
    const { sent } = await ask('messages', upstream, {
      messages: [{ role: 'user', content: [{ type: 'text', text: '' }, image] }],
    });
    assert.ok(JSON.stringify(sent).includes(data));
    assert.deepEqual(findEmpty(sent), []);
  }
});

test('an empty conversation is a 400 on the straight path too', async () => {
  const references = [{ type: 'item_reference', id: 'rs_1' }];
  const responses = await ask('responses', 'R', { input: references });
  assert.deepEqual(
    [responses.status, responses.error?.param, responses.sent],
    [400, 'input', null],
  );
  const foreign = { type: 'thinking', thinking: 'Hm.', signature: '' };
  const messages = await ask('messages', 'M', {
    messages: [{ role: 'assistant', content: [foreign] }],
  });
  assert.deepEqual(
    [messages.status, messages.error?.param, messages.sent],
    [400, 'messages', null],
  );
});

/** `sent`: the upstream request; null if there was none. */
async function ask(client: WireName, upstream: Upstream, fields: object) {
  const { path, body } = endpoint(client);
  const earlier = gateway.upstream.requests.length;
  const reply = await gateway.post(path, { key, body: body({ model: upstream, ...fields }) });
  const sent =
    gateway.upstream.requests.length > earlier
      ? (gateway.upstream.requests.at(-1)!.body as Json)
      : null;
  const { error } = reply.json() as { error?: { param?: string; message: string } };
  return { status: reply.status, error, sent };
}

function conversationFields(client: WireName, turns: Conversation): object {
  const messages = turns.map(([role, content]) => ({ role, content }));
  if (client === 'chat') return { messages };
  if (client === 'responses') return { input: messages };
  const system = turns.find(([role]) => role === 'system')?.[1];
  const rest = messages.filter(({ role }) => role !== 'system');
  if (system === undefined) return { messages: rest };
  // Messages requires a message, so instructions alone become one.
  return rest.length > 0 ? { system, messages: rest } : { messages };
}

/** The turns of the upstream request; adjacent turns of one role are joined. */
function readTurns(upstream: Upstream, sent: Json): Conversation {
  const { messages, input, contents, instructions, system, systemInstruction } = sent;
  const turns: Turn[] = (messages ?? input ?? contents).map((message: Json) => {
    const role = message['role'] === 'model' ? 'assistant' : message['role'];
    return [role, textOf(message['content'] ?? message['parts'])];
  });
  const leading = upstream === 'R' ? instructions : (system ?? systemInstruction?.parts);
  return mergeTurns(leading === undefined ? turns : [['system', textOf(leading)], ...turns]);
}

function mergeTurns(turns: Conversation): Conversation {
  const merged: Turn[] = [];
  for (const [role, text] of turns) {
    const last = merged.at(-1);
    if (last?.[0] === role) merged[merged.length - 1] = [role, last[1] + text];
    else merged.push([role, text]);
  }
  return merged;
}

function textOf(content: string | readonly Json[]): string {
  return typeof content === 'string'
    ? content
    : content.map((part) => String(part['text'] ?? '')).join('');
}

/** The paths of empty lists and blank texts. */
function findEmpty(value: unknown, path = ''): string[] {
  if (typeof value === 'string')
    return /(?:text|content|instructions|input)$/.test(path) && value.trim() === '' ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  const isList = /(?:messages|input|contents|parts|content|system)$/.test(path);
  if (Array.isArray(value) && value.length === 0 && isList) return [path];
  return Object.entries(value).flatMap(([name, inner]) =>
    findEmpty(inner, Array.isArray(value) ? path : `${path}.${name}`),
  );
}
