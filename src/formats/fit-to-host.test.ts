import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMsOf } from '../../tests/support/cpu-time.ts';
import { knownProviders } from '../config/known-providers.ts';
import type { HostWishes } from '../terms/host-wishes.ts';
import { assertRefused } from '../../tests/support/assert-refused.ts';
import { fitToHost } from './fit-to-host.ts';

const body = {
  model: 'm',
  seed: 1,
  user: 'u',
  stream_options: { include_usage: true },
  tool_choice: 'required',
};

test('what a host refuses is left out and listed, but for what the gateway itself has set', () => {
  const fitted = fitToHost(body, { refused: ['user', 'stream_options', 'absent'] });
  assert.deepEqual(fitted.body, { model: 'm', seed: 1, tool_choice: 'required' });
  assert.deepEqual(fitted.ignored, ['user']);
});

test('a host that refuses unknown fields gets those that it knows', () => {
  const fitted = fitToHost(body, { only: ['model', 'tool_choice'] });
  assert.deepEqual(fitted.body, { model: 'm', tool_choice: 'required' });
  assert.deepEqual(fitted.ignored, ['seed', 'user']);
});

test('a field has the host’s name, and what it refuses under that name is lost', () => {
  const fitted = fitToHost(body, { renamed: { seed: 'random_seed' } });
  assert.equal(fitted.body['random_seed'], 1);
  assert.equal(fitted.body['seed'], undefined);
  assert.deepEqual(fitted.ignored, []);
  const only = { renamed: { seed: 'random_seed' }, only: ['model', 'random_seed'] };
  assert.deepEqual(fitToHost(body, only).body, { model: 'm', random_seed: 1 });
});

test('what the operator allows is sent whatever the host is known to refuse', () => {
  const fitted = fitToHost(body, { only: ['model'] }, new Set(['user']));
  assert.deepEqual(fitted, { body: { model: 'm', user: 'u' }, ignored: ['seed', 'tool_choice'] });
});

const tools = [{ type: 'function', function: { name: 'f', strict: true } }];
const named = { type: 'function', function: { name: 'f' } };

test('a forced call has the host’s word; without one it is not forced, which is listed', () => {
  const fit = (tool_choice: unknown, toolChoices: object) => {
    const { body: fitted, ignored } = fitToHost({ tools, tool_choice }, { toolChoices });
    return [fitted['tool_choice'], ignored];
  };
  assert.deepEqual(fit('required', { required: 'any' }), ['any', []]);
  assert.deepEqual(fit('auto', { required: 'any' }), ['auto', []]);
  assert.deepEqual(fit(named, { required: 'any' }), [named, []]);
  assert.deepEqual(fit('required', { required: null }), [undefined, ['tool_choice']]);
  assert.deepEqual(fit(named, { named: null }), [undefined, ['tool_choice']]);
  assert.deepEqual(fit(named, { named: 'required' }), ['required', []]);
});

test('calls one at a time cannot be had from a host without the field, which is listed', () => {
  const wishes = { only: ['tools'] };
  const lost = (fields: object) => fitToHost({ tools, ...fields }, wishes).ignored;
  assert.deepEqual(lost({ parallel_tool_calls: false }), ['parallel_tool_calls']);
  assert.deepEqual(lost({ parallel_tool_calls: null }), []);
  assert.deepEqual(lost({ parallel_tool_calls: false, tools: undefined }), []);
  assert.deepEqual(lost({ logprobs: false }), []);
});

test('messages that are joined lose nothing', () => {
  const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
  const messages = [
    { role: 'assistant', content: 'a' },
    { role: 'assistant', content: null, tool_calls: calls },
  ];
  const { body: fitted } = fitToHost({ messages }, { alternates: true });
  assert.deepEqual(fitted['messages'], [{ role: 'assistant', content: 'a', tool_calls: calls }]);
});

test('JSON mode with a schema keeps it where it becomes one', () => {
  const schema = { type: 'object', required: ['a'] };
  const fit = (format: object) =>
    fitToHost({ response_format: format }, { lacksJsonMode: true }).body['response_format'];
  for (const [given, kept] of [
    [{ type: 'json_object', schema }, schema],
    [{ type: 'json_object' }, { type: 'object' }],
  ] as const)
    assert.deepEqual(fit(given), {
      type: 'json_schema',
      json_schema: { name: 'json', schema: kept },
    });
});

test('a host that cannot force one tool of several gets that one alone', () => {
  const others = [...tools, { type: 'function', function: { name: 'g' } }];
  const fit = (choice: unknown, word: string | null = 'required') =>
    fitToHost({ tools: others, tool_choice: choice }, { toolChoices: { named: word } }).body;
  assert.deepEqual(fit(named), { tools, tool_choice: 'required' });
  assert.deepEqual(fit(named, null), { tools, tool_choice: undefined });
  assert.deepEqual(fit('required'), { tools: others, tool_choice: 'required' });
});

test('models that think or not at their host get no other effort, and other hosts get it', () => {
  const { groq, openrouter } = knownProviders;
  const fit = (wishes: HostWishes | undefined, model: string, effort: string) => {
    const asked = { model, reasoning_effort: effort };
    const { body: fitted, ignored } = fitToHost(asked, wishes ?? {});
    return [fitted['reasoning_effort'], ignored];
  };
  const lost = [undefined, ['reasoning_effort']];
  assert.deepEqual(fit(groq?.wishes, 'qwen/qwen3-32b', 'high'), lost);
  assert.deepEqual(fit(groq?.wishes, 'qwen/qwen3-32b', 'none'), ['none', []]);
  assert.deepEqual(fit(groq?.wishes, 'qwen/qwen3.8-27b', 'high'), ['high', []]);
  assert.deepEqual(fit(openrouter?.wishes, 'qwen/qwen3-32b', 'high'), ['high', []]);
});

test('a host that wants roles in turn gets one message for those in a row, in time that grows with them', () => {
  const image = { type: 'image_url', image_url: { url: 'https://a.example' } };
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'user', content: null },
    { role: 'user', content: [image] },
    { role: 'assistant', content: 'b' },
    { role: 'assistant', content: 'c' },
  ];
  const fitted = fitToHost({ messages }, { alternates: true }).body['messages'];
  assert.deepEqual(fitted, [
    { role: 'user', content: [{ type: 'text', text: 'a' }, image] },
    { role: 'assistant', content: 'b\n\nc' },
  ]);
  const many = Array.from({ length: 8_000 }, () => ({ role: 'user', content: [image] }));
  const fit = () => fitToHost({ messages: many }, { alternates: true });
  assert.ok(leastCpuMsOf(fit) < 50);
});

test('a host that forces no call while the model thinks is told not to think', () => {
  const wishes = {
    notThinking: { thinking: { type: 'disabled' } },
    forcesWithoutThinking: true,
  } as const;
  const fit = (fields: object) => {
    const { body: fitted, ignored } = fitToHost({ model: 'kimi-k2.6', tools, ...fields }, wishes);
    return [fitted['thinking'], fitted['reasoning_effort'], ignored];
  };
  const off = { type: 'disabled' };
  assert.deepEqual(fit({ tool_choice: 'required' }), [off, undefined, []]);
  assert.deepEqual(fit({ tool_choice: named, thinking: off }), [off, undefined, []]);
  const asked = { tool_choice: 'required', reasoning_effort: 'high' };
  assert.deepEqual(fit(asked), [off, undefined, ['reasoning_effort']]);
  const inItsWords = { tool_choice: 'required', thinking: { type: 'enabled' } };
  assert.deepEqual(fit(inItsWords), [off, undefined, ['thinking']]);
  assert.deepEqual(fit({ tool_choice: 'auto' }), [undefined, undefined, []]);
  // Kimi K3 always thinks, and can be forced all the same.
  assert.deepEqual(fit({ ...asked, model: 'kimi-k3' }), [undefined, 'high', []]);
});

test('without a word for `none` the tools are left out', () => {
  const given = { tools, tool_choice: 'none', parallel_tool_calls: true };
  const { body: fitted, ignored } = fitToHost(given, { toolChoices: { none: null } });
  assert.equal(JSON.stringify(fitted), '{}');
  assert.deepEqual(ignored, []);
});

test('a field of a function that the host refuses is left out and listed', () => {
  const { body: fitted, ignored } = fitToHost({ tools }, { refusedOfTools: ['strict'] });
  assert.equal(JSON.stringify(fitted), '{"tools":[{"type":"function","function":{"name":"f"}}]}');
  assert.deepEqual(ignored, ['tools.strict']);
});

test('a number is brought into the host’s range, which is listed', () => {
  const ranges = { temperature: [0.01, 1] } as const;
  for (const [given, sent, lost] of [
    [0, 0.01, ['temperature']],
    [1.7, 1, ['temperature']],
    [0.5, 0.5, []],
  ] as const)
    assert.deepEqual(fitToHost({ temperature: given }, { ranges }), {
      body: { temperature: sent },
      ignored: lost,
    });
});

test('earlier reasoning returns where the host reads it', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', reasoning_content: 'hm', content: 'b' },
    { role: 'assistant', reasoning_content: ' ', content: null, tool_calls: [] },
  ];
  const parts = [{ type: 'text', text: 'b' }];
  const ofParts = [{ role: 'assistant', reasoning_content: 'hm', content: parts }];
  const fitted = fitToHost({ messages: ofParts }, { reasoningIn: 'content' }).body['messages'];
  const thoughts = { type: 'text', text: '<think>\nhm\n</think>\n\n' };
  assert.deepEqual((fitted as { content: unknown }[])[0]!.content, [thoughts, ...parts]);
  const sent = (reasoningIn: 'reasoning' | 'content') =>
    JSON.parse(
      JSON.stringify(fitToHost({ messages }, { reasoningIn }).body['messages']),
    ) as unknown;
  assert.deepEqual(sent('reasoning'), [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b', reasoning: 'hm' },
    { role: 'assistant', content: null, tool_calls: [], reasoning: ' ' },
  ]);
  assert.deepEqual(sent('content'), [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: '<think>\nhm\n</think>\n\nb' },
    { role: 'assistant', content: null, tool_calls: [] },
  ]);
});

test('results of tools become strings where the host wants them', () => {
  const text = (word: string) => ({ type: 'text', text: word });
  const messages = [
    { role: 'tool', tool_call_id: 'c', content: [text('a'), text('b')] },
    { role: 'user', content: [text('a')] },
  ];
  const { body: fitted } = fitToHost({ messages }, { stringContents: 'results' });
  assert.deepEqual(fitted['messages'], [
    { role: 'tool', tool_call_id: 'c', content: 'a\nb' },
    messages[1],
  ]);
});

test('a model that shall not think is told so in the host’s words', () => {
  const wishes = { notThinking: { thinking: { type: 'disabled' } } };
  const fit = (effort: string) => JSON.stringify(fitToHost({ reasoning_effort: effort }, wishes));
  assert.equal(fit('none'), '{"body":{"thinking":{"type":"disabled"}},"ignored":[]}');
  assert.equal(fit('low'), '{"body":{"reasoning_effort":"low"},"ignored":[]}');
});

test('a body that fits is the same object', () => {
  assert.equal(fitToHost(body, { refused: ['absent'] }).body, body);
});

test('a second answer and older tools that a host does not take are refused by name', () => {
  for (const [name, value] of [
    ['n', 2],
    ['functions', [{ name: 'f' }]],
    ['function_call', { name: 'f' }],
  ] as const)
    assertRefused(
      () => fitToHost({ model: 'm', [name]: value }, { only: ['model'] }),
      name,
      /for this model|by this model/,
    );
  assert.deepEqual(fitToHost({ model: 'm', n: 1, functions: null }, { only: ['model'] }).body, {
    model: 'm',
  });
});
