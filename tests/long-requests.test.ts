// Long conversations and tool lists on every pair: processing time grows linearly, not with the
// square of the length, and no list is too long for the stack. CPU time is compared with a tenth of
// the same conversation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName, UpstreamFormatName } from '../src/terms/format-name.ts';
import { lowerCustomTools } from '../src/formats/adapting/custom-tools.ts';
import { repairConversation } from '../src/formats/adapting/repair-conversation.ts';
import type { UpstreamTarget } from '../src/formats/format.ts';
import { clientFormats, upstreamFormats } from '../src/formats/registry.ts';
import { fitRequestNames } from '../src/formats/translated-tool-names.ts';
import { asContents } from './support/as-gemini.ts';
import type { Json } from './support/plain/reading.ts';
import { scaled } from './support/volume.ts';

type Body = Readonly<Record<string, unknown>>;
type Shape = (count: number) => Readonly<Record<ClientFormatName, Body>>;

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const bodies = (chat: unknown[], responses: unknown[], messages: Json[]) => ({
  chat: { model: 'm', messages: [...chat, { role: 'user', content: 'Go on' }] },
  responses: { model: 'm', input: [...responses, { role: 'user', content: 'Go on' }] },
  messages: {
    model: 'm',
    max_tokens: 99,
    messages: [...messages, { role: 'user', content: 'Go on' }],
  },
  gemini: { model: 'm', contents: asContents([...messages, { role: 'user', content: 'Go on' }]) },
});

const shapes: Readonly<Record<string, Shape>> = {
  'turns with calls': (count) =>
    bodies(
      times(count, (index) => [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: null, tool_calls: [chatCall(index)] },
        { role: 'tool', tool_call_id: `c${index}`, content: 'r' },
      ]).flat(),
      times(count, (index) => [
        { role: 'user', content: 'q' },
        responsesCall(index),
        responsesResult(index),
      ]).flat(),
      times(count, (index) => [
        { role: 'assistant', content: [messagesCall(index)] },
        { role: 'user', content: [messagesResult(index)] },
      ]).flat(),
    ),
  'calls of one turn': (count) =>
    bodies(
      [
        { role: 'assistant', content: null, tool_calls: times(count, chatCall) },
        ...times(count, (index) => ({ role: 'tool', tool_call_id: `c${index}`, content: 'r' })),
      ],
      [...times(count, responsesCall), ...times(count, responsesResult)],
      [
        { role: 'assistant', content: times(count, messagesCall) },
        { role: 'user', content: times(count, messagesResult) },
      ],
    ),
  'calls of one id': (count) =>
    bodies(
      times(count, () => [
        { role: 'assistant', content: null, tool_calls: [chatCall(0)] },
        { role: 'tool', tool_call_id: 'c0', content: 'r' },
      ]).flat(),
      times(count, () => [responsesCall(0), responsesResult(0)]).flat(),
      [
        { role: 'assistant', content: times(count, () => messagesCall(0)) },
        { role: 'user', content: times(count, () => messagesResult(0)) },
      ],
    ),
  'results of one call': (count) =>
    bodies(
      [
        { role: 'assistant', content: null, tool_calls: [chatCall(0)] },
        ...times(count, () => ({ role: 'tool', tool_call_id: 'c0', content: 'r' })),
      ],
      [responsesCall(0), ...times(count, () => responsesResult(0))],
      [
        { role: 'assistant', content: [messagesCall(0)] },
        { role: 'user', content: times(count, () => messagesResult(0)) },
      ],
    ),
  'calls without results, and results without calls': (count) =>
    bodies(
      [
        { role: 'assistant', content: null, tool_calls: times(count, chatCall) },
        ...times(count, (index) => ({ role: 'tool', tool_call_id: `d${index}`, content: 'r' })),
      ],
      [...times(count, responsesCall), ...times(count, (index) => responsesResult(count + index))],
      [
        { role: 'assistant', content: times(count, messagesCall) },
        { role: 'user', content: times(count, (index) => messagesResult(count + index)) },
      ],
    ),
  'answers without a question between them': (count) =>
    bodies(
      times(count, () => ({ role: 'assistant', content: 'a' })),
      times(count, () => ({ role: 'assistant', content: 'a' })),
      times(count, () => ({ role: 'assistant', content: 'a' })),
    ),
  'empty answers': (count) =>
    bodies(
      times(count, (index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: index % 2 === 0 ? 'q' : '',
      })),
      times(count, (index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: index % 2 === 0 ? 'q' : [],
      })),
      times(count, (index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: index % 2 === 0 ? 'q' : [],
      })),
    ),
  instructions: (count) =>
    bodies(
      [{ role: 'user', content: 'q' }, ...times(count, () => ({ role: 'system', content: 's' }))],
      [{ role: 'user', content: 'q' }, ...times(count, () => ({ role: 'system', content: 's' }))],
      [{ role: 'user', content: 'q' }, ...times(count, () => ({ role: 'system', content: 's' }))],
    ),
  'thought signatures': (count) =>
    bodies(
      [
        {
          role: 'assistant',
          content: 'x',
          reasoning_details: times(count, (index) => sealed(`call.x${index}.AAAA`)),
          tool_calls: times(count, chatCall),
        },
        ...times(count, (index) => ({ role: 'tool', tool_call_id: `c${index}`, content: 'r' })),
      ],
      [],
      [],
    ),
  'reasoning among texts': (count) =>
    bodies(
      [
        {
          role: 'assistant',
          content: times(count, () => ({ type: 'text', text: 'ab' })),
          reasoning_details: times(count, (index) => ({
            type: 'reasoning.text',
            text: 'Hm',
            id: `after_${index}_0`,
            index,
            signature: 's',
            format: 'anthropic-claude-v1',
          })),
        },
      ],
      times(count, () => [
        {
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'Hm' }],
          encrypted_content: 's',
        },
        { role: 'assistant', content: 'ab' },
      ]).flat(),
      [
        {
          role: 'assistant',
          content: times(count, () => [
            { type: 'thinking', thinking: 'Hm', signature: 's' },
            { type: 'text', text: 'ab' },
          ]).flat(),
        },
      ],
    ),
  'thought signatures of empty texts': (count) =>
    bodies(
      [
        {
          role: 'assistant',
          content: 'x',
          reasoning_details: times(2 * count, () => sealed('empty-text.AAAA')),
        },
      ],
      [],
      [],
    ),
};

function chatCall(index: number): object {
  return {
    id: `c${index}`,
    type: 'function',
    function: { name: 'tool', arguments: '{"city":"Paris"}' },
  };
}
function responsesCall(index: number): object {
  return {
    type: 'function_call',
    call_id: `c${index}`,
    name: 'tool',
    arguments: '{"city":"Paris"}',
  };
}
function responsesResult(index: number): object {
  return { type: 'function_call_output', call_id: `c${index}`, output: 'r' };
}
function messagesCall(index: number): object {
  return { type: 'tool_use', id: `c${index}`, name: 'tool', input: { city: 'Paris' } };
}
function messagesResult(index: number): object {
  return { type: 'tool_result', tool_use_id: `c${index}`, content: 'r' };
}
function sealed(data: string): object {
  return { type: 'reasoning.encrypted', data, format: 'google-gemini-v1' };
}

const target: UpstreamTarget = {
  model: 'claude-opus-4-8',
  stream: false,
  maxOutputTokens: 99,
  thinking: true,
  isOpenAi: false,
};

function translate(client: ClientFormatName, upstream: UpstreamFormatName, body: Body): Body {
  const format = clientFormats[client];
  const request = format.parseRequest(body, { chatMaxTokens: null });
  if (client === upstream && format.relay.canRelay?.(request, target) !== false)
    return format.relay.writeRequest(request, target).body;
  format.ignoredFields?.(request);
  const { toolNames, writeRequest } = upstreamFormats[upstream];
  const asked = repairConversation(lowerCustomTools(format.readRequest(request)).request);
  return writeRequest(fitRequestNames(asked, toolNames).request, target).body;
}

/** CPU time of this process only, including the garbage collector's. */
function cpuMsOf(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/**
 * Items of a long list. The time above which runs are compared grows with its square, like the
 * defect that is searched for.
 */
const manyCount = scaled(8_000, 20_000);
const boundMs = 3_000 * (manyCount / 30_000) ** 2;

const clients = Object.keys(clientFormats) as ClientFormatName[];
const upstreams = Object.keys(upstreamFormats) as UpstreamFormatName[];

for (const [name, shape] of Object.entries(shapes)) {
  test(`${name}: time grows linearly with their number, on every pair`, () => {
    const [few, many] = [shape(manyCount / 10), shape(manyCount)];
    for (const client of clients) {
      for (const upstream of upstreams) {
        const short = Math.min(
          ...times(2, () => cpuMsOf(() => translate(client, upstream, few[client]))),
        );
        let long = Infinity;
        // Other programs slow some of the tries.
        for (let tried = 0; tried < 3 && long >= boundMs && long >= short * 40; tried++)
          long = Math.min(
            long,
            cpuMsOf(() => translate(client, upstream, many[client])),
          );
        // Code with quadratic time took six to seventeen seconds for 30,000.
        assert.ok(
          long < boundMs || long < short * 40,
          `${client} on ${upstream}: ${short.toFixed(1)} ms, then ${long.toFixed(1)} ms`,
        );
      }
    }
  });
}

test('results that answer no call of a long turn are read in linear time', () => {
  const id = (index: number) => 'c'.repeat(1_000) + String(index).padStart(6, '0');
  const call = (index: number) => ({ functionCall: { id: id(index), name: 'a' } });
  const result = (index: number) => ({ functionResponse: { id: id(index), name: 'b' } });
  const contents = [
    { parts: [{ text: 'q' }] },
    { role: 'model', parts: times(4_000, call) },
    { parts: times(4_000, (index) => result(4_000 + index)) },
  ];
  const format = clientFormats.gemini;
  const request = format.parseRequest({ model: 'm', contents }, { chatMaxTokens: null });
  const leastMs = Math.min(...times(3, () => cpuMsOf(() => format.readRequest(request))));
  // Quadratic time took half a second.
  assert.ok(leastMs < boundMs, `${leastMs.toFixed(1)} ms`);
});

test('a message with more parts than a function may have arguments is translated on every pair', () => {
  const parts = (type: string) => times(scaled(130_000, 200_000), () => ({ type, text: 'a' }));
  const [text, input] = [parts('text'), parts('input_text')];
  const body = bodies(
    [
      { role: 'system', content: text },
      { role: 'user', content: text },
      { role: 'assistant', content: text },
    ],
    [
      { role: 'system', content: input },
      { role: 'user', content: input },
      { role: 'assistant', content: parts('output_text') },
    ],
    [
      { role: 'user', content: text },
      { role: 'assistant', content: text },
    ],
  );
  for (const client of clients)
    for (const upstream of upstreams)
      assert.ok(translate(client, upstream, body[client]).model !== '');
});

test('500 tools and 2 000 messages all reach every upstream', () => {
  const names = times(500, (index) => `tool_${index}`);
  const conversation = shapes['turns with calls']!(667);
  const tools: Readonly<Record<ClientFormatName, unknown[]>> = {
    chat: names.map((name) => ({ type: 'function', function: { name, parameters: schema } })),
    responses: names.map((name) => ({ type: 'function', name, parameters: schema })),
    messages: names.map((name) => ({ name, input_schema: schema })),
    gemini: [
      { functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: schema })) },
    ],
  };
  for (const client of clients) {
    for (const upstream of upstreams) {
      const text = JSON.stringify(
        translate(client, upstream, { ...conversation[client], tools: tools[client] }),
      );
      const named = new Set(text.match(/"name":"tool_\d+"/g));
      for (const name of names)
        assert.ok(named.has(`"name":"${name}"`), `${client} on ${upstream}: ${name}`);
      const ids = Map.groupBy(text.match(/"c\d+"/g) ?? [], (id) => id);
      for (let index = 0; index < 667; index++) {
        assert.equal(
          ids.get(`"c${index}"`)?.length,
          2,
          `${client} on ${upstream}: call and result ${index}`,
        );
      }
    }
  }
});
