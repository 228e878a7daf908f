import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../../tests/support/canonical/answers.ts';
import {
  assistantTurn,
  callPart,
  resultPart,
  textPart,
  toolTurn,
  userTurn,
} from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { anyCharacter } from '../../../tests/support/any-text.ts';
import fc from '../../../tests/support/property.ts';
import type { Answer } from '../../canonical/answer.ts';
import { repairConversation } from '../adapting/repair-conversation.ts';
import type { ToolCallPart } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import {
  anyAnswer,
  contextFor,
  payloadsOf,
  requestFor,
  streamAnswer,
  target,
} from '../../../tests/support/formats/responses.ts';
import { ignoredFields, readRequest } from './read-request.ts';
import { relayRequest } from './relay-request.ts';
import { toolNamesOf } from './tool-names.ts';
import { writeAnswer } from './write-answer.ts';

const list = {
  type: 'function',
  name: 'list',
  description: 'Lists.',
  parameters: { type: 'object', properties: {} },
};
const patch = { type: 'custom', name: 'patch' };
const crm = { type: 'namespace', name: 'crm', description: 'Customers.', tools: [list, patch] };
const search = {
  type: 'tool_search',
  execution: 'client',
  description: 'Finds tools.',
  parameters: { type: 'object' },
};
const fields = { tools: [{ type: 'function', name: 'list' }, crm, search] };
const listCall = { type: 'function_call', call_id: 'c1', name: 'list', arguments: '{}' };
const searchCall = { type: 'tool_search_call', execution: 'client', arguments: { query: 'mail' } };
const searchOutput = { type: 'tool_search_output', execution: 'client' };

function namesFor(request: JsonObject) {
  return toolNamesOf(requestFor(request).body);
}

function callsOf(...calls: Omit<ToolCallPart, 'type'>[]): Answer {
  const content = calls.map((call) => ({ type: 'tool-call' as const, ...call }));
  return answerOf(content);
}

test('the tools of a namespace get flat names, and the first describes the namespace', () => {
  const { tools } = readRequest(requestFor(fields));
  assert.deepEqual(
    tools.map(({ name, kind, description }) => [name, kind, description]),
    [
      ['list', 'function', null],
      ['crm__list', 'function', 'About the tools of crm: Customers.\n\nLists.'],
      ['crm__patch', 'custom', null],
      ['tool_search', 'function', 'Finds tools.'],
    ],
  );
});

test('calls return under the client’s tool names, streamed and whole', () => {
  const answer = callsOf(
    { id: 'c1', name: 'list', arguments: '{}', kind: 'function' },
    { id: 'c2', name: 'crm__list', arguments: '{"a":1}', kind: 'function' },
    { id: 'c3', name: 'crm__patch', arguments: '*** x', kind: 'custom' },
    { id: 'c4', name: 'tool_search', arguments: '{"query":"mail"}', kind: 'function' },
    { id: 'c5', name: 'made_up', arguments: '', kind: 'function' },
  );
  const context = contextFor(fields);
  const status = 'completed';
  const output = [
    { ...listCall, id: 'c1', status },
    { ...listCall, id: 'c2', call_id: 'c2', namespace: 'crm', arguments: '{"a":1}', status },
    {
      id: 'ctc_01kahw_2',
      type: 'custom_tool_call',
      call_id: 'c3',
      name: 'patch',
      namespace: 'crm',
      input: '*** x',
      status,
    },
    { ...searchCall, id: 'tsc_01kahw_3', call_id: 'c4', status },
    { ...listCall, id: 'c5', call_id: 'c5', name: 'made_up', arguments: '', status },
  ];
  assert.deepEqual(writeAnswer(answer, context).output, output);
  const events = payloadsOf(streamAnswer(answer, context));
  assert.deepEqual((events.at(-1)!.response as JsonObject).output, output);
  const done = events
    .filter((event) => event.type === 'response.output_item.done')
    .map((event) => event.item);
  assert.deepEqual(done, output);
  const announced = events
    .filter((event) => event.type === 'response.output_item.added')
    .map((event) => event.item as JsonObject);
  assert.deepEqual(
    announced.map(({ namespace }) => namespace),
    [undefined, 'crm', 'crm', undefined, undefined],
  );
  assert.ok(
    !events.some((event) => event.item_id === 'tsc_01kahw_3'),
    'a search has no events of its own',
  );
});

test('tools found by a tool search can be called, and its result names them', () => {
  const mail = {
    type: 'namespace',
    name: 'mail',
    description: 'Mail.',
    tools: [{ type: 'function', name: 'send' }],
  };
  const { tools, messages } = readRequest(
    requestFor({
      ...fields,
      input: [
        { role: 'user', content: 'Hi' },
        { ...searchCall, id: 'tsc_1', call_id: 'c1', status: 'completed' },
        { ...searchOutput, call_id: 'c1', tools: [mail, list], status: 'completed' },
        { ...listCall, call_id: 'c2', namespace: 'mail', name: 'send' },
        { type: 'function_call_output', call_id: 'c2', output: 'sent' },
        { ...searchCall, call_id: 'c3', arguments: { query: 'none' } },
        { ...searchOutput, call_id: 'c3', tools: [mail] },
      ],
    }),
  );
  const names = tools.map((tool) => tool.name);
  assert.deepEqual(
    names,
    ['list', 'crm__list', 'crm__patch', 'tool_search', 'mail__send'],
    'each once, though loaded twice',
  );
  assert.deepEqual(messages.slice(1, 4), [
    assistantTurn(callPart('c1', 'tool_search', '{"query":"mail"}')),
    toolTurn(resultPart('c1', textPart('These tools can be called now: mail__send, list'))),
    assistantTurn(callPart('c2', 'mail__send')),
  ]);
});

test('cut-off arguments of a tool search stay text in both directions', () => {
  const answer = callsOf({
    id: 'c1',
    name: 'tool_search',
    arguments: '{"query":"ma',
    kind: 'function',
  });
  const [item] = writeAnswer(answer, contextFor(fields)).output as JsonObject[];
  assert.equal(item?.arguments, '{"query":"ma');
  const { messages } = readRequest(requestFor({ ...fields, input: [item] }));
  assert.deepEqual(messages[0]?.content, answer.content);
});

test('a second result of a call joins the first, or is sent later as more output', () => {
  const { messages } = repairConversation(
    readRequest(
      requestFor({
        input: [
          { type: 'custom_tool_call', call_id: 'c1', name: 'exec', input: 'x' },
          { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
          { type: 'custom_tool_call_output', call_id: 'c1', output: 'half' },
          { type: 'function_call_output', call_id: 'c2', output: 'f' },
          { type: 'custom_tool_call_output', call_id: 'c1', output: 'whole' },
          { type: 'message', role: 'assistant', content: 'Hm.' },
          { type: 'custom_tool_call_output', call_id: 'c1', output: 'late' },
        ],
      }),
    ),
  );
  const text = (...texts: string[]) => texts.map((value) => textPart(value));
  assert.deepEqual(messages.slice(1), [
    toolTurn(resultPart('c1', ...text('half', 'whole')), resultPart('c2', ...text('f'))),
    { role: 'assistant', content: text('Hm.') },
    { role: 'user', content: text('[More output of the tool call c1]', 'late') },
  ]);
});

test('a choice may name a tool of a namespace, or some of the tools', () => {
  const choose = (choice: JsonObject) =>
    readRequest(requestFor({ ...fields, tool_choice: choice }));
  const chosen = (choice: JsonObject) => choose(choice).toolChoice;
  const tool = (name: string) => ({ type: 'tool', name });
  assert.deepEqual(chosen({ type: 'function', name: 'list' }), tool('list'));
  const ofCrm = { type: 'function', name: 'list', namespace: 'crm' };
  assert.deepEqual(chosen(ofCrm), tool('crm__list'));
  assert.deepEqual(chosen({ type: 'custom', name: 'patch' }), tool('crm__patch'));
  const some = choose({
    type: 'allowed_tools',
    mode: 'required',
    tools: [{ type: 'custom', name: 'patch' }, { type: 'tool_search' }],
  });
  assert.deepEqual(some.toolChoice, { type: 'required' });
  assert.deepEqual(
    some.tools.map(({ name }) => name),
    ['crm__patch', 'tool_search'],
  );
});

test('flat names are accepted elsewhere, unique, stable and reversible', () => {
  const anyName = fc.oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 90 }),
    fc.constantFrom('a', 'a_', '_a', 'a__b', 'b'),
  );
  const anyMember = fc.record({ type: fc.constant('function'), name: anyName });
  const anyNamespace = fc.record({
    type: fc.constant('namespace'),
    name: anyName,
    tools: fc.uniqueArray(anyMember, { minLength: 1, maxLength: 4, selector: (tool) => tool.name }),
  });
  const anyTools = fc.tuple(
    fc.uniqueArray(fc.constantFrom('a', 'a__b', 'a__a__b', 'tool_search'), { maxLength: 4 }),
    fc.uniqueArray(anyNamespace, { minLength: 1, maxLength: 5, selector: (tool) => tool.name }),
  );
  fc.assert(
    fc.property(anyTools, ([functions, namespaces]) => {
      const request = {
        tools: [...functions.map((name) => ({ type: 'function', name })), ...namespaces, search],
      };
      const names = namesFor(request);
      const flat = readRequest(requestFor(request)).tools.map((tool) => tool.name);
      assert.equal(new Set(flat).size, flat.length);
      for (const name of flat) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
      for (const { name: namespace, tools } of namespaces) {
        for (const { name } of tools) {
          const flatName = names.nameOf({ namespace, name });
          assert.deepEqual(names.originOf(flatName), { type: 'named', namespace, name });
          assert.equal(namesFor(request).nameOf({ namespace, name }), flatName);
        }
      }
      for (const name of functions)
        assert.deepEqual(names.originOf(name), { type: 'named', namespace: null, name });
      assert.deepEqual(names.originOf(names.searchName), { type: 'search' });
    }),
  );
});

/** Answers that also call tools of a namespace and search for tools. */
const anyToolAnswer = fc
  .tuple(
    anyAnswer,
    fc.array(fc.constantFrom('crm__list', 'crm__patch', 'tool_search'), { maxLength: 3 }),
  )
  .map(([answer, names]): Answer => ({
    ...answer,
    content: [
      ...answer.content,
      ...names.map((name, index): ToolCallPart => {
        const kind = name === 'crm__patch' ? 'custom' : 'function';
        return callPart(`extra${index}`, name, '{"query":"x"}', kind);
      }),
    ],
  }));

function resultOf({ type, call_id: callId }: JsonObject): JsonObject[] {
  const isCall = type === 'function_call' || type === 'custom_tool_call';
  return isCall ? [{ type: `${type}_output`, call_id: callId, output: 'r' }] : [];
}

test('`input += response.output` always works, streamed and whole, on every upstream, and nothing of the answer is lost', () => {
  fc.assert(
    fc.property(anyToolAnswer, fc.boolean(), (answer, asksForReasoning) => {
      const context = contextFor({
        ...fields,
        ...(asksForReasoning ? { reasoning: { effort: 'high' } } : {}),
      });
      const streamed = payloadsOf(streamAnswer(answer, context)).at(-1)?.response as JsonObject;
      for (const { output } of [writeAnswer(answer, context), streamed]) {
        const input = [
          { role: 'user', content: 'Hi' },
          ...(output as JsonObject[]),
          ...(output as JsonObject[]).flatMap(resultOf),
          { role: 'user', content: 'And?' },
        ];
        const next = requestFor({ ...fields, input: JSON.parse(JSON.stringify(input)) as unknown });
        const [, said] = readRequest(next).messages;
        assert.deepEqual(said?.role === 'assistant' ? said.content : [], answer.content);
        const { body, ignored } = relayRequest(next, target);
        assert.equal((body.input as unknown[]).length + ignored.length, input.length);
      }
    }),
  );
});

test('the straight path keeps every kind of tool and tool item unchanged', () => {
  const shell = { type: 'shell', environment: { type: 'local' } };
  const tools = [
    crm,
    search,
    shell,
    { type: 'local_shell' },
    { type: 'apply_patch' },
    { ...patch, format: { type: 'text' } },
  ];
  const input = [
    { role: 'user', content: 'Hi' },
    { type: 'additional_tools', role: 'developer', tools: [crm] },
    { ...listCall, id: 'fc_1', namespace: 'crm' },
    { type: 'function_call_output', call_id: 'c1', output: '' },
    { ...searchCall, id: 'tsc_1', call_id: 'c2' },
    { ...searchOutput, call_id: 'c2', tools: [crm] },
    {
      type: 'local_shell_call',
      id: 'lsh_1',
      call_id: 'c3',
      action: { type: 'exec', command: ['ls'], env: {} },
      status: 'completed',
    },
    { type: 'local_shell_call_output', call_id: 'c3', output: 'x' },
    { type: 'shell_call', call_id: 'c4', action: { commands: ['ls'] } },
    {
      type: 'apply_patch_call',
      call_id: 'c5',
      operation: { type: 'delete_file', path: 'a' },
      status: 'completed',
    },
  ];
  const { body, ignored } = relayRequest(requestFor({ tools, input }), target);
  assert.deepEqual([body.tools, body.input, ignored], [tools, input, []]);
});

const secret = { type: 'string', encrypted: true };
const spawn = {
  type: 'function',
  name: 'spawn_agent',
  parameters: { type: 'object', properties: { message: secret, encrypted: { type: 'boolean' } } },
};
const agents = { type: 'namespace', name: 'collaboration', tools: [spawn, list] };
const told = (text: string) => ({
  type: 'agent_message',
  id: 'amsg_1',
  author: '/root',
  recipient: '/root/worker',
  content: [
    { type: 'input_text', text: 'Payload:' },
    { type: 'encrypted_content', encrypted_content: text },
  ],
});
const spawned = {
  type: 'function_call',
  call_id: 'c1',
  name: 'spawn_agent',
  namespace: 'collaboration',
  arguments: '{"message":"Go."}',
};

test('Codex: an agent of another vendor tells its task in plain text, and is told', () => {
  for (const lists of [
    { tools: [agents] },
    {
      input: [
        { type: 'additional_tools', tools: [agents] },
        { role: 'user', content: 'Hi' },
      ],
    },
  ]) {
    const { tools } = readRequest(requestFor(lists));
    assert.deepEqual(tools[0]!.parameters, {
      ...spawn.parameters,
      properties: { message: { type: 'string' }, encrypted: { type: 'boolean' } },
    });
    const answer = callsOf(
      {
        id: 'c1',
        name: 'collaboration__spawn_agent',
        arguments: spawned.arguments,
        kind: 'function',
      },
      { id: 'c2', name: 'collaboration__list', arguments: '{}', kind: 'function' },
    );
    const context = contextFor(lists);
    const [first, second] = writeAnswer(answer, context).output as JsonObject[];
    assert.deepEqual(first, {
      ...spawned,
      id: 'c1',
      encrypted_function_args: [],
      status: 'completed',
    });
    assert.ok(!('encrypted_function_args' in second!));
    const events = payloadsOf(streamAnswer(answer, context));
    assert.deepEqual(events.find(({ type }) => type === 'response.output_item.done')!.item, first);
  }
  // Codex before 0.147 takes it for encrypted.
  const part = { type: 'encrypted_content', encrypted_content: 'Done.' };
  const output = { type: 'function_call_output', call_id: 'c1', output: [part] };
  const asked = requestFor({ input: [told('Go.'), spawned, output] });
  assert.deepEqual(ignoredFields(asked), ['input.author', 'input.recipient']);
  const { messages } = readRequest(asked);
  assert.deepEqual(messages[0], {
    role: 'user',
    content: [textPart('Payload:'), textPart('Go.')],
  });
  assert.deepEqual(messages.at(-1), toolTurn(resultPart('c1', textPart('Done.'))));
});

test('Codex: what OpenAI has encrypted goes to OpenAI alone', () => {
  const input = [told('gAAAAABqx1'), { ...spawned, encrypted_function_args: ['message'] }];
  const output = { type: 'function_call_output', call_id: 'c1', output: '' };
  const asked = requestFor({ input: [...input, output], tools: [agents] });
  assert.deepEqual(relayRequest(asked, target).body.input, [...input, output]);
  assertRefused(
    () => readRequest(asked),
    'input[0].content[1].encrypted_content',
    /OpenAI's models/,
  );
  const plain = relayRequest(requestFor({ input: [told('Go.')] }), target).body.input;
  assert.deepEqual((plain as JsonObject[])[0]!.content, [
    { type: 'input_text', text: 'Payload:' },
    { type: 'input_text', text: 'Go.' },
  ]);
});

test('Codex: a change of its configuration is left out for other vendors, and listed', () => {
  const update = { type: 'configuration_update', reasoning: { effort: 'high' } };
  const input = [{ role: 'user', content: 'Hi' }, update];
  const asked = requestFor({ input });
  assert.deepEqual(readRequest(asked).messages, [userTurn('Hi')]);
  assert.deepEqual(ignoredFields(asked), ['input[1]']);
  const compacted = { type: 'context_compaction', encrypted_content: 'gAAAAABqx1' };
  const sent = [compacted, ...input];
  assert.deepEqual(relayRequest(requestFor({ input: sent }), target).body.input, sent);
});
