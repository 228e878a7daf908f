import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import type { JsonObject } from '../lib/json.ts';
import { clientFormats } from './registry.ts';

const parameters = { type: 'object', properties: { q: { type: 'string' } } };
const grammar = { syntax: 'lark', definition: 'start: /.+/' };
const chatTools = {
  function: {
    type: 'function',
    function: { name: 'f', description: 'd', parameters, strict: true },
  },
  custom: {
    type: 'custom',
    custom: { name: 'p', description: 'd', format: { type: 'grammar', grammar } },
  },
};
const responsesTools = {
  function: { type: 'function', name: 'f', description: 'd', parameters, strict: true },
  custom: { type: 'custom', name: 'p', description: 'd', format: { type: 'grammar', ...grammar } },
};

function chat(fields: JsonObject): JsonObject {
  const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], ...fields };
  return clientFormats.chat.parseRequest(body, { chatMaxTokens: null }).body;
}

function responses(fields: JsonObject): JsonObject {
  const body = { model: 'm', input: 'x', ...fields };
  return clientFormats.responses.parseRequest(body, { chatMaxTokens: null }).body;
}

test('tools of Responses and of Messages are read at the Chat address', () => {
  const { type: _, ...untyped } = responsesTools.function;
  const anthropic = { name: 'a', description: 'd', input_schema: parameters };
  const { tools } = chat({
    tools: [
      responsesTools.function,
      responsesTools.custom,
      untyped,
      anthropic,
      { ...anthropic, type: 'custom', cache_control: { type: 'ephemeral' } },
      { type: 'custom', name: 'text' },
      chatTools.custom,
    ],
  });
  const named = { type: 'function', function: { name: 'a', description: 'd', parameters } };
  assert.deepEqual(tools, [
    chatTools.function,
    chatTools.custom,
    chatTools.function,
    named,
    { ...named, cache_control: { type: 'ephemeral' } },
    { type: 'custom', custom: { name: 'text' } },
    chatTools.custom,
  ]);
});

test('Google’s search is one at the Chat address, unless functions would be lost with it', () => {
  const search = { type: 'web_search' };
  for (const tool of [{ googleSearch: {} }, { google_search: {} }])
    assert.deepEqual(chat({ tools: [tool] })['tools'], [search]);
  const both = { googleSearch: {}, functionDeclarations: [{ name: 'f' }] };
  assert.throws(() => chat({ tools: [both] }), /tools\[0\]/);
});

test('tool choices of Responses and of Messages are read at the Chat address', () => {
  const choices: readonly [unknown, unknown][] = [
    [
      { type: 'function', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
    [
      { type: 'custom', name: 'p' },
      { type: 'custom', custom: { name: 'p' } },
    ],
    [
      { type: 'tool', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
    [{ type: 'any' }, 'required'],
    [{ type: 'auto' }, 'auto'],
    [{ type: 'none' }, 'none'],
    ['required', 'required'],
    // Mistral's clients, and Cursor for models of Google's.
    ['any', 'required'],
    ['validated', 'auto'],
  ];
  for (const [sent, read] of choices)
    assert.deepEqual(chat({ tool_choice: sent }).tool_choice, read);
  const serial = { tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
  assert.equal(chat(serial).parallel_tool_calls, false);
  assert.equal(chat({ ...serial, parallel_tool_calls: true }).parallel_tool_calls, true);
});

test('tools and a choice in Chat’s shape are read at the Responses address', () => {
  const { tools } = responses({ tools: [chatTools.function, chatTools.custom] });
  assert.deepEqual(tools, [responsesTools.function, responsesTools.custom]);
  for (const [type, name] of [
    ['function', 'f'],
    ['custom', 'p'],
  ] as const) {
    const read = responses({ tool_choice: { type, [type]: { name } } });
    assert.deepEqual(read.tool_choice, { type, name });
  }
});

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const turn = fc.record({
  texts: fc.array(word, { maxLength: 2 }),
  results: fc.array(fc.record({ input: fc.dictionary(word, fc.jsonValue()), output: word }), {
    maxLength: 3,
  }),
  more: fc.array(word, { maxLength: 2 }),
});

test('a conversation with blocks of Messages reads as the same one in Chat’s shape', () => {
  const textPart = (text: string) => ({ type: 'text', text });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 5 }), (turns) => {
      const foreign = turns.flatMap(({ texts, results, more }, at) => [
        {
          role: 'assistant',
          content: [
            textPart('t'),
            ...texts.map(textPart),
            ...results.map(({ input }, n) => ({
              type: 'tool_use',
              id: `c${at}.${n}`,
              name: 'f',
              input,
            })),
          ],
        },
        {
          role: 'user',
          // Messages wants results first; clients do not keep to it.
          content: [
            textPart('u'),
            ...more.map(textPart),
            ...results.map(({ output }, n) => ({
              type: 'tool_result',
              tool_use_id: `c${at}.${n}`,
              content: output,
            })),
          ],
        },
      ]);
      const own = turns.flatMap(({ texts, results, more }, at) => [
        {
          role: 'assistant',
          content: ['t', ...texts].map(textPart),
          ...(results.length > 0 && {
            tool_calls: results.map(({ input }, n) => ({
              id: `c${at}.${n}`,
              type: 'function',
              function: { name: 'f', arguments: JSON.stringify(input) },
            })),
          }),
        },
        ...results.map(({ output }, n) => ({
          role: 'tool',
          tool_call_id: `c${at}.${n}`,
          content: output,
        })),
        { role: 'user', content: ['u', ...more].map(textPart) },
      ]);
      const first = { role: 'user', content: 'x' };
      assert.deepEqual(chat({ messages: [first, ...foreign] }).messages, [first, ...own]);
      assert.deepEqual(chat({ messages: [first, ...own] }).messages, [first, ...own]);
    }),
  );
});

test('a body in its own shape stays the same object', () => {
  const own = {
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    tools: [chatTools.function],
  };
  assert.equal(clientFormats.chat.parseRequest(own, { chatMaxTokens: null }).body, own);
  const other = { model: 'm', input: 'x', tools: [responsesTools.function] };
  assert.equal(clientFormats.responses.parseRequest(other, { chatMaxTokens: null }).body, other);
});

test('what has no known shape is refused by name', () => {
  for (const tool of [
    { type: 'function' },
    { type: 'custom' },
    { type: 'function', function: 'f' },
  ])
    assert.throws(() => chat({ tools: [tool] }), /^Error: tools\[0\]\.(?:function|custom) /);
  assert.throws(() => responses({ tools: [{ type: 'function' }] }), /^Error: tools\[0\]\.name/);
});
