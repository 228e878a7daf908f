import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assistantTurn,
  callPart,
  resultPart,
  systemTurn,
  textPart,
  thinkingPart,
  toolTurn,
  userTurn,
} from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { jsonInstruction } from '../adapting/json-object.ts';
import type { CanonicalRequest, Message, Reasoning, Tool } from '../../canonical/request.ts';
import { clientRequest, upstreamTarget } from '../../../tests/support/formats/messages.ts';
import { claudeTraits } from '../claude-traits.ts';
import { readRequest } from './read-request.ts';
import { writeRequest } from './write-request.ts';

const base: CanonicalRequest = { ...readRequest(clientRequest()), maxOutputTokens: null };
const older = 'claude-sonnet-4-5-20250929';
const newer = 'claude-opus-5';
const write = (
  fields: Partial<CanonicalRequest>,
  target: Parameters<typeof upstreamTarget>[0] = {},
) =>
  writeRequest(
    { ...base, ...fields },
    upstreamTarget({ model: older, maxOutputTokens: 8192, ...target }),
  );
const text = (value: string) => ({ type: 'text' as const, text: value });
const user = (value: string): Message => userTurn(value);
const assistant = (value: string): Message => assistantTurn(value);
const call: Message = assistantTurn(callPart('call_1', 'look'));
const answer: Message = toolTurn(resultPart('call_1', textPart('A cat')));
const look: Tool = {
  name: 'look',
  description: null,
  parameters: null,
  strict: null,
  kind: 'function',
};

test('every request has its output limit and the standard tier, and `stream` only when it streams', () => {
  assert.deepEqual(write({}).body, {
    model: older,
    max_tokens: 8192,
    messages: [userTurn('Hello')],
    service_tier: 'standard_only',
  });
  assert.equal(write({}, { stream: true }).body.stream, true);
});

test('turns alternate, tool results are first in their turn, and empty text is left out', () => {
  const { body } = write({
    messages: [
      user('a'),
      user(''),
      call,
      user('b'),
      answer,
      assistant('c'),
      assistant('d'),
      user('e'),
    ],
  });
  assert.deepEqual(body.messages, [
    userTurn('a'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: [textPart('A cat')] },
        textPart('b'),
      ],
    },
    assistantTurn('c', 'd'),
    userTurn('e'),
  ]);
});

test('system messages go where the model accepts them: first, inside the conversation, or marked in a user turn', () => {
  const system = (value: string): Message => systemTurn(value);
  const messages = [
    system('first'),
    user('a'),
    system('then'),
    assistant('b'),
    system('later'),
    user('c'),
  ];
  const within = write({ messages }, { model: 'claude-opus-4-8' }).body;
  assert.deepEqual(within.system, [textPart('first')]);
  assert.deepEqual(within.messages, [
    userTurn('a'),
    systemTurn('then'),
    assistantTurn('b'),
    // Anthropic accepts none before a user turn.
    userTurn('<system>\nlater\n</system>', 'c'),
  ]);
  const marked = write({ messages }).body;
  assert.deepEqual(marked.messages, [
    userTurn('a', '<system>\nthen\n</system>'),
    assistantTurn('b'),
    userTurn('<system>\nlater\n</system>', 'c'),
  ]);
});

test('reasoning of other vendors or without a signature is dropped and listed; Anthropic’s returns byte for byte', () => {
  const thinking = { type: 'thinking', text: 'Hm', redacted: false } as const;
  const content = [
    { ...thinking, signature: { vendor: 'openai' as const, value: 'o' } },
    { ...thinking, signature: null },
    { ...thinking, signature: { vendor: 'anthropic' as const, value: 'Eq==' } },
    {
      ...thinking,
      text: '',
      redacted: true,
      signature: { vendor: 'anthropic' as const, value: 'Er==' },
    },
    textPart('x'),
  ];
  const { body, ignored } = write({
    messages: [user('a'), { role: 'assistant', content }, user('b')],
  });
  assert.deepEqual((body.messages as unknown[])[1], {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 'Eq==' },
      { type: 'redacted_thinking', data: 'Er==' },
      textPart('x'),
    ],
  });
  assert.deepEqual(ignored, ['thinking']);
});

test('a turn with only foreign reasoning is removed', () => {
  const foreign: Message = assistantTurn(thinkingPart('Hm'));
  assert.deepEqual(write({ messages: [user('a'), foreign, user('b')] }).body.messages, [
    userTurn('a', 'b'),
  ]);
});

test('call ids that Anthropic refuses are mapped alike in call and result', () => {
  const id = 'functions.look:0';
  const { body } = write({
    messages: [
      assistantTurn(callPart(id, 'look')),
      { role: 'tool', content: [{ type: 'tool-result', callId: id, content: [], isError: true }] },
    ],
  });
  const [first, second] = body.messages as { content: Record<string, unknown>[] }[];
  assert.match(first!.content[0]!.id as string, /^[a-zA-Z0-9_-]+$/);
  assert.deepEqual(second!.content[0], {
    type: 'tool_result',
    tool_use_id: first!.content[0]!.id,
    is_error: true,
  });
});

test('fields that Messages lacks are listed, unless they have no effect', () => {
  const { body, ignored } = write({
    seed: 1,
    frequencyPenalty: 0.5,
    presencePenalty: 0,
    metadata: { a: 'b' },
    promptCacheKey: 'k',
    endUser: 'someone@example.com',
  });
  assert.deepEqual(ignored, ['seed', 'frequency_penalty', 'metadata', 'prompt_cache_key']);
  assert.deepEqual(body.metadata, { user_id: 'someone@example.com' });
});

const samplings: [
  model: string,
  asked: Partial<CanonicalRequest>,
  sent: Record<string, number>,
  ignored: string[],
][] = [
  [
    'claude-sonnet-4-20250514',
    { temperature: 0.5, topP: 0.9, topK: 5 },
    { temperature: 0.5, top_p: 0.9, top_k: 5 },
    [],
  ],
  ['claude-sonnet-4-20250514', { temperature: 1.7 }, { temperature: 1 }, ['temperature']],
  [older, { temperature: 0.5, topP: 0.9 }, { temperature: 0.5 }, ['top_p']],
  [older, { topP: 0.9 }, { top_p: 0.9 }, []],
  [newer, { temperature: 0, topP: 0.9, topK: 5 }, {}, ['temperature', 'top_p', 'top_k']],
  [
    older,
    { temperature: 0, topK: 5, reasoning: { effort: 'low', budgetTokens: null } },
    {},
    ['temperature', 'top_k'],
  ],
  ['deepseek-chat', { temperature: 0.5, topP: 0.9 }, { temperature: 0.5, top_p: 0.9 }, []],
];

for (const [model, asked, sent, listed] of samplings) {
  test(`for ${JSON.stringify(asked)} ${model} is sent ${JSON.stringify(sent)}`, () => {
    const { body, ignored } = write(asked, { model });
    for (const name of ['temperature', 'top_p', 'top_k'])
      assert.equal(body[name], sent[name], name);
    assert.deepEqual(ignored, listed);
  });
}

const enabled = (budget: number) => ({ type: 'enabled', budget_tokens: budget });
const summarized = { type: 'adaptive', display: 'summarized' };
const reasonings: [
  model: string,
  reasoning: Reasoning,
  thinking: unknown,
  effort: string | undefined,
][] = [
  [older, { effort: 'high', budgetTokens: null }, enabled(7168), undefined],
  [older, { effort: 'low', budgetTokens: null }, enabled(1024), undefined],
  [older, { effort: null, budgetTokens: null }, enabled(7168), undefined],
  [older, { effort: null, budgetTokens: 2000 }, enabled(2000), undefined],
  [older, { effort: 'none', budgetTokens: null }, { type: 'disabled' }, undefined],
  ['claude-opus-4-6', { effort: 'xhigh', budgetTokens: null }, { type: 'adaptive' }, 'high'],
  ['claude-opus-4-6', { effort: null, budgetTokens: 2000 }, enabled(2000), undefined],
  ['claude-opus-4-7', { effort: 'xhigh', budgetTokens: null }, summarized, 'xhigh'],
  [newer, { effort: 'minimal', budgetTokens: null }, summarized, 'low'],
  [newer, { effort: null, budgetTokens: null }, summarized, undefined],
  [newer, { effort: null, budgetTokens: 24_576 }, summarized, 'high'],
  [newer, { effort: null, budgetTokens: 31_999 }, summarized, 'xhigh'],
  [newer, { effort: 'none', budgetTokens: null }, { type: 'disabled' }, undefined],
  ['claude-haiku-5-5', { effort: 'none', budgetTokens: null }, { type: 'disabled' }, undefined],
  [
    'claude-sonnet-5-5',
    { effort: 'none', budgetTokens: null },
    { type: 'between_tools' },
    undefined,
  ],
  ['claude-opus-5-5', { effort: 'none', budgetTokens: null }, undefined, 'low'],
  ['claude-opus-4-8', { effort: 'none', budgetTokens: null }, undefined, 'low'],
  ['claude-mythos-preview', { effort: 'max', budgetTokens: null }, summarized, 'max'],
  ['MiniMax-M3', { effort: 'low', budgetTokens: null }, enabled(1024), undefined],
  ['moonshotai/Kimi-K3', { effort: 'xhigh', budgetTokens: null }, { type: 'adaptive' }, 'xhigh'],
  ['kimi-k3', { effort: null, budgetTokens: 2000 }, enabled(2000), undefined],
  // It always thinks, and as much as it can without an effort.
  ['MiniMax-M3.1-Flash', { effort: 'none', budgetTokens: null }, undefined, 'low'],
  ['MiniMax-M3.1-Flash', { effort: 'low', budgetTokens: null }, { type: 'adaptive' }, 'low'],
  ['MiniMax-M3.1-Flash', { effort: null, budgetTokens: 24_576 }, { type: 'adaptive' }, 'high'],
  ['MiniMax-M3', { effort: 'none', budgetTokens: null }, { type: 'disabled' }, undefined],
];

test('a model that would think unasked is told not to, whatever the catalogue says of it', () => {
  const told = (fields: object, model: string) =>
    write(fields, { model, thinking: false }).body.thinking;
  const none = { reasoning: { effort: 'none', budgetTokens: null } };
  const tools = [{ type: 'function', name: 'f', parameters: {} }];
  const forced = { tools, toolChoice: { type: 'required' } };
  const effort = { reasoning: { effort: 'high', budgetTokens: null } };
  for (const fields of [none, forced, { ...forced, ...effort }]) {
    assert.deepEqual(told(fields, 'claude-opus-5'), { type: 'disabled' });
    assert.equal(told(fields, 'claude-opus-4-8'), undefined);
  }
});

for (const [model, reasoning, thinking, effort] of reasonings) {
  test(`for the reasoning ${JSON.stringify(reasoning)} ${model} gets ${JSON.stringify(thinking)} and effort ${effort}`, () => {
    const { body, ignored } = write({ reasoning }, { model });
    assert.deepEqual(body.thinking, thinking);
    assert.equal((body.output_config as Record<string, unknown> | undefined)?.effort, effort);
    assert.deepEqual(ignored, []);
  });
}

test('thinking is left out and listed when it would be refused', () => {
  const reasoning = { effort: 'high', budgetTokens: null } as const;
  const cases: [fields: Partial<CanonicalRequest>, target: Parameters<typeof upstreamTarget>[0]][] =
    [
      [{}, { thinking: false }],
      [{}, { maxOutputTokens: 1024 }],
      [{ tools: [look], toolChoice: { type: 'required' } }, {}],
      // Another vendor's model made the call, so its turn does not begin with thinking.
      [{ tools: [look], messages: [user('a'), call, answer] }, {}],
    ];
  for (const [fields, target] of cases) {
    const { body, ignored } = write({ reasoning, ...fields }, target);
    assert.equal(body.thinking, undefined);
    assert.deepEqual(ignored, ['reasoning_effort']);
  }
  const force = { tools: [look], toolChoice: { type: 'required' } } as const;
  const forced = write({ reasoning, ...force }, { model: newer });
  // It would think unasked.
  assert.deepEqual(forced.body.thinking, { type: 'disabled' });
  assert.deepEqual(forced.body.output_config, { effort: 'high' });
  assert.deepEqual(forced.ignored, ['reasoning_effort']);
  const most = write({ reasoning: { ...reasoning, effort: 'max' }, ...force }, { model: newer });
  assert.deepEqual(most.body.output_config, { effort: 'high' });
  assert.deepEqual(write(force, { model: newer }).body.thinking, { type: 'disabled' });
});

test('a model that always thinks is not forced to call: the demanded tool is offered alone', () => {
  const tools = [look, { ...look, name: 'other' }];
  for (const model of ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-fable-5-1']) {
    for (const [toolChoice, offered] of [
      [{ type: 'required' }, ['look', 'other']],
      [{ type: 'tool', name: 'look' }, ['look']],
    ] as const) {
      const { body, ignored } = write({ tools, toolChoice }, { model });
      const sent = body.tools as readonly { readonly name: string }[];
      assert.deepEqual(
        [sent.map(({ name }) => name), body.tool_choice],
        [offered, { type: 'auto' }],
      );
      assert.deepEqual(ignored, ['tool_choice']);
    }
  }
});

test('tools get an object schema, and a choice is sent only beside tools', () => {
  const choice = (fields: Partial<CanonicalRequest>) =>
    write({ tools: [look], ...fields }).body.tool_choice;
  assert.deepEqual(write({ tools: [look] }).body.tools, [
    { name: 'look', input_schema: { type: 'object' } },
  ]);
  assert.equal(choice({}), undefined);
  assert.deepEqual(choice({ parallelToolCalls: false }), {
    type: 'auto',
    disable_parallel_tool_use: true,
  });
  assert.deepEqual(choice({ toolChoice: { type: 'required' }, parallelToolCalls: true }), {
    type: 'any',
    disable_parallel_tool_use: false,
  });
  assert.deepEqual(choice({ toolChoice: { type: 'tool', name: 'look' } }), {
    type: 'tool',
    name: 'look',
  });
  assert.equal(write({ toolChoice: { type: 'auto' } }).body.tool_choice, undefined);
});

test('JSON mode is requested after the instructions, and emulated', () => {
  const { body, emulated } = write({
    system: [textPart('Be kind.')],
    outputFormat: { type: 'json' },
  });
  assert.deepEqual(
    (body.system as readonly { text: string }[]).map((block) => block.text),
    ['Be kind.', jsonInstruction.text],
  );
  assert.deepEqual([body.output_config, emulated], [undefined, { jsonObject: true }]);
});

test('a document that Messages cannot hold is refused by name', () => {
  const document = {
    type: 'document',
    source: { kind: 'base64', mediaType: 'application/msword', data: 'AAAA' },
    name: 'a.doc',
  } as const;
  assertRefused(
    () => write({ messages: [userTurn(document)] }),
    null,
    /The document "a.doc" of type "application\/msword"/,
  );
});

test('model generations are recognised by every form of their ids', () => {
  for (const id of (
    'claude-3-7-sonnet-latest claude-sonnet-4-20250514 claude-opus-4-1 ' +
    'claude-haiku-4-5-20251001 gpt-x'
  ).split(' ')) {
    assert.equal(claudeTraits(id).thinking, 'budget', id);
  }
  for (const id of [
    'claude-opus-4-6',
    'anthropic/claude-sonnet-4.6',
    'anthropic.claude-opus-4-6-v1',
  ])
    assert.equal(claudeTraits(id).thinking, 'both', id);
  for (const id of (
    'claude-opus-4-7 claude-sonnet-5 claude-fable-5-2 claude-haiku-5-5-20261001 ' +
    'claude-mythos-preview'
  ).split(' ')) {
    assert.equal(claudeTraits(id).thinking, 'adaptive', id);
  }
});

test('blank text is left out, because Anthropic refuses it', () => {
  const content = [textPart('\n\n'), ...(call.content as [])] as const;
  const { body } = write({ messages: [user('a'), { role: 'assistant', content }, answer] });
  assert.deepEqual(
    (body.messages as { content: { type: string }[] }[])[1]!.content.map((block) => block.type),
    ['tool_use'],
  );
});

test('citations that Anthropic did not make are left out and listed, and its own are sent', () => {
  const page = {
    type: 'url' as const,
    url: 'https://a.example',
    title: 'A',
    citedText: 'x',
    span: null,
  };
  const cited = (reference: string | null): Message => ({
    role: 'assistant',
    content: [{ ...text('b'), citations: [{ ...page, reference }] }],
  });
  const own = write({ messages: [user('a'), cited('Eo8B'), user('c')] });
  const location = {
    type: 'web_search_result_location',
    cited_text: 'x',
    encrypted_index: 'Eo8B',
    title: 'A',
    url: page.url,
  };
  assert.deepEqual((own.body.messages as unknown[])[1], {
    role: 'assistant',
    content: [{ type: 'text', text: 'b', citations: [location] }],
  });
  const foreign = write({ messages: [user('a'), cited(null), user('c')] });
  assert.deepEqual(foreign.ignored, ['citations']);
  assert.deepEqual((foreign.body.messages as unknown[])[1], assistantTurn('b'));
});

test('verbosity and the detail of images are left out and listed', () => {
  const image = {
    type: 'image' as const,
    source: { kind: 'url' as const, url: 'https://x.test/a.png' },
  };
  const withDetail = (detail: string) =>
    write({ messages: [{ role: 'user', content: [{ ...image, detail }] }] }).ignored;
  assert.deepEqual(withDetail('auto'), []);
  assert.deepEqual(withDetail('high'), ['detail']);
  assert.deepEqual(write({ verbosity: 'low' }).ignored, ['verbosity']);
});

test('a strict tool’s schema is fitted to Anthropic, and any other stays unchanged', () => {
  const parameters = {
    properties: { count: { type: 'integer', minimum: 1 } },
    required: ['count'],
  };
  const strict = write({ tools: [{ ...look, parameters, strict: true }] });
  assert.deepEqual(strict.body.tools, [
    {
      name: 'look',
      input_schema: {
        properties: { count: { type: 'integer', description: '{minimum: 1}' } },
        required: ['count'],
        type: 'object',
        additionalProperties: false,
      },
      strict: true,
    },
  ]);
  assert.deepEqual(strict.ignored, ['tools.minimum']);
  const loose = write({ tools: [{ ...look, parameters }] });
  assert.deepEqual(loose.body.tools, [
    { name: 'look', input_schema: { ...parameters, type: 'object' } },
  ]);
  assert.deepEqual(loose.ignored, []);
});

test('alternatives at the top of a tool’s schema move into the description, because Anthropic refuses them there', () => {
  const anyOf = [{ required: ['a'] }, { required: ['b'] }];
  const { body, ignored } = write({ tools: [{ ...look, parameters: { type: 'object', anyOf } }] });
  const description = `{anyOf: ${JSON.stringify(anyOf)}}`;
  assert.deepEqual(body.tools, [{ name: 'look', input_schema: { type: 'object', description } }]);
  assert.deepEqual(ignored, ['tools.anyOf']);
});
