import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assistantTurn,
  callPart,
  pageCitation,
  resultPart,
  systemTurn,
  textPart,
  thinkingPart,
  toolTurn,
  userTurn,
  withNamedJson,
} from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { anyUrl } from '../../../tests/support/any-text.ts';
import fc from '../../../tests/support/property.ts';
import { emptyRequest } from '../../../tests/support/canonical/empty-request.ts';
import { record, typed } from '../../../tests/support/plain-record.ts';
import { canonicalRequest } from '../../../tests/support/formats/gemini.ts';
import { makeAnswerable } from '../adapting/answerable.ts';
import { repairConversation } from '../adapting/repair-conversation.ts';
import { ApiError } from '../../canonical/errors.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { UpstreamTarget } from '../format.ts';
import {
  anyAssistantContent,
  anyJsonObject,
  anyText,
  requestFor,
} from '../../../tests/support/formats/chat.ts';
import { mendSchema } from '../mend-schema.ts';
import { parseRequest } from './parse-request.ts';
import { readRequest } from './read-request.ts';
import type {
  AssistantPart,
  CanonicalRequest,
  Effort,
  Message,
  Tool,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { writeRequest } from './write-request.ts';

const target: UpstreamTarget = {
  model: 'upstream-model',
  stream: false,
  maxOutputTokens: 100,
  thinking: true,
  isOpenAi: true,
};
const empty = readRequest(requestFor());

function write(changes: Partial<CanonicalRequest>, targetChanges: Partial<UpstreamTarget> = {}) {
  return writeRequest({ ...empty, ...changes }, { ...target, ...targetChanges });
}

/** Returns the messages that are sent. */
const sentMessages = (...args: Parameters<typeof write>) =>
  write(...args).body.messages as JsonObject[];
const writeMessages = (...messages: Message[]) => sentMessages({ messages });

test('the smallest request has model, messages and limit', () => {
  assert.deepEqual(write({}), {
    body: {
      model: 'upstream-model',
      messages: [{ role: 'user', content: 'Hi' }],
      max_completion_tokens: 100,
      service_tier: 'default',
    },
    ignored: [],
  });
});

test('the limit is sent in the target’s field, and a stream asks for usage', () => {
  const { body } = write({}, { isOpenAi: false, stream: true });
  assert.deepEqual(Object.keys(body), 'model messages max_tokens stream stream_options'.split(' '));
  assert.deepEqual(body.stream_options, { include_usage: true });
});

test('texts of instructions, assistant and tools become one string each', () => {
  assert.deepEqual(write({ system: [textPart('a'), textPart('b')], messages: [] }).body.messages, [
    { role: 'system', content: 'a\n\nb' },
  ]);
  assert.deepEqual(
    writeMessages(assistantTurn('a', 'b'), toolTurn(resultPart('c', textPart('1'), textPart('2')))),
    [
      { role: 'assistant', content: 'ab' },
      { role: 'tool', tool_call_id: 'c', content: '1\n2' },
    ],
  );
});

const image = {
  type: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data: 'AA==' },
} as const;

test('results follow their calls, whatever the client put between them', () => {
  const say = (text: string): Message => userTurn(text);
  const results = (...content: ToolResultPart[]): Message => ({ role: 'tool', content });
  const conversation: Message[] = [
    assistantTurn(callPart('a'), callPart('b')),
    results(resultPart('a', image)),
    say('also this'),
    results(resultPart('b', textPart('x'))),
    assistantTurn(callPart('c')),
    systemTurn('Be brief.'),
    results(resultPart('c', textPart('y'))),
  ];
  const repaired = repairConversation(canonicalRequest({ messages: conversation }));
  const messages = writeMessages(...repaired.messages);
  assert.deepEqual(
    messages.map(({ role, tool_call_id: id }) => (id ? `${role as string} ${id as string}` : role)),
    ['assistant', 'tool a', 'tool b', 'user', 'user', 'assistant', 'tool c', 'system'],
  );
});

test('later instructions are text of the user for models that take them only ahead', () => {
  const messages: Message[] = [userTurn('Hi'), systemTurn('Be brief.')];
  const system = [textPart('You are kind.')];
  const sent = (model: string) =>
    sentMessages({ system, messages }, { model, isOpenAi: false }).slice(-2);
  const first = { role: 'user', content: 'Hi' };
  assert.deepEqual(sent('deepseek-v4'), [first, { role: 'system', content: 'Be brief.' }]);
  const marked = { role: 'user', content: '<system>\nBe brief.\n</system>' };
  assert.deepEqual(sent('Qwen/Qwen3.8-27B'), [first, marked]);
});

test('an earlier refusal is text where the host refuses the field', () => {
  const messages: Message[] = [assistantTurn({ type: 'refusal', text: 'No.' }), userTurn('Why?')];
  const sent = (refusedHistory: string[]) =>
    (write({ messages }, { isOpenAi: false, refusedHistory }).body.messages as object[])[0];
  assert.deepEqual(sent([]), { role: 'assistant', content: '', refusal: 'No.' });
  assert.deepEqual(sent(['refusal']), { role: 'assistant', content: 'No.' });
});

test('a document by URL is refused, because Chat cannot express it', () => {
  const content: UserPart[] = [
    { type: 'document', source: { kind: 'url', url: 'https://x.test/a.pdf' } },
  ];
  assert.throws(() => write({ messages: [{ role: 'user', content }] }), ApiError);
});

test('fields that Chat lacks are left out and listed', () => {
  const cacheControl = { type: 'ephemeral' } as const;
  const messages: Message[] = [
    userTurn({ type: 'text', text: 'x', cacheControl }),
    { role: 'tool', content: [{ type: 'tool-result', callId: 'c', content: [], isError: true }] },
  ];
  const { body, ignored } = write({ topK: 3, metadata: { a: 'b' }, messages });
  assert.deepEqual(ignored, ['top_k', 'metadata', 'cache_control']);
  assert.deepEqual((body.messages as unknown[])[1], {
    role: 'tool',
    tool_call_id: 'c',
    content: '[The tool call failed.]',
  });
  assert.deepEqual(
    Object.keys(body),
    'model messages max_completion_tokens service_tier'.split(' '),
  );
});

test('a model that does not think gets neither effort nor earlier reasoning', () => {
  const thinking = thinkingPart('hm');
  const messages: Message[] = [assistantTurn(thinking, 'a'), assistantTurn(thinking)];
  const changes = { messages, reasoning: { effort: 'high', budgetTokens: null } } as const;
  const { body, ignored } = write(changes, { thinking: false });
  assert.deepEqual(body.messages, [{ role: 'assistant', content: 'a' }]);
  assert.ok(!('reasoning_effort' in body));
  assert.deepEqual(ignored, ['reasoning_content', 'reasoning_effort']);
  assert.deepEqual(write(changes, { isOpenAi: false }).body.messages, [
    { role: 'assistant', content: 'a', reasoning_content: 'hm' },
    { role: 'assistant', content: '', reasoning_content: 'hm' },
  ]);
  assert.deepEqual(write(changes).ignored, ['reasoning_content'], 'OpenAI takes no reasoning back');
});

const effortFor = (budgetTokens: number) =>
  write({ reasoning: { effort: null, budgetTokens } }).body.reasoning_effort;

test('a budget becomes the nearest effort', () => {
  assert.deepEqual([0, 1_024, 8_192, 24_576].map(effortFor), ['none', 'low', 'medium', 'high']);
});

test('prompt_cache_key goes only to OpenAI', () => {
  assert.equal(write({ promptCacheKey: 'k' }).body.prompt_cache_key, 'k');
  assert.deepEqual(write({ promptCacheKey: 'k' }, { isOpenAi: false }).ignored, [
    'prompt_cache_key',
  ]);
});

test('without tools neither choice nor the parallel switch is sent', () => {
  assert.deepEqual(
    Object.keys(write({ toolChoice: { type: 'auto' }, parallelToolCalls: true }).body),
    Object.keys(write({}).body),
  );
});

const anySource = fc.oneof(
  anyUrl.map((url) => ({ kind: 'url' as const, url })),
  fc.base64String().map((data) => ({ kind: 'base64' as const, mediaType: 'image/png', data })),
);
const anyUserPart: fc.Arbitrary<UserPart> = fc.oneof(
  anyText.map((text) => ({ type: 'text' as const, text })),
  anySource.map((source) => ({ type: 'image' as const, source })),
  anySource.map((source) => ({ type: 'image' as const, source, detail: 'high' })),
  fc.base64String().map((data) => ({
    type: 'document' as const,
    source: { kind: 'base64' as const, mediaType: 'application/pdf', data },
    name: 'a.pdf',
  })),
);
const anyUser: fc.Arbitrary<Message> = fc
  .array(anyUserPart, { minLength: 1, maxLength: 3 })
  .map((content) => ({ role: 'user', content }));
/** Chat accepts no citations in requests, and a model takes its own vendor's signatures. */
function expressible(part: AssistantPart): AssistantPart {
  if (part.type === 'text') return { type: part.type, text: part.text };
  if (part.type !== 'thinking' || !part.signature) return part;
  return { ...part, signature: { ...part.signature, vendor: 'anthropic' } };
}

const anyAssistant: fc.Arbitrary<Message> = anyAssistantContent
  .map((content) => content.map(expressible))
  .filter((content) => content.length > 0)
  .map((content) => ({ role: 'assistant', content }));
const anyResults: fc.Arbitrary<Message> = fc
  .array(fc.tuple(fc.base64String({ minLength: 4 }), anyText), { minLength: 1, maxLength: 3 })
  .map((results) => ({
    role: 'tool',
    content: results.map(([callId, text]) => resultPart(callId, textPart(text))),
  }));
const anySystem: fc.Arbitrary<Message> = anyText.map((text) => systemTurn(text));
/**
 * Each kind of turn once, so that neither results nor leading instructions have an equal neighbour.
 */
const anyMessages = fc
  .tuple(
    anyUser,
    fc.array(fc.tuple(anyAssistant, anyResults, anySystem, anyUser), { maxLength: 2 }),
  )
  .map(([first, turns]) => [first, ...turns.flat()]);

const anyTool: fc.Arbitrary<Tool> = fc.oneof(
  record({
    name: fc.constantFrom('f', 'g'),
    description: fc.option(anyText),
    parameters: anyJsonObject.map((properties) => mendSchema({ type: 'object', properties })),
    strict: fc.option(fc.boolean()),
    kind: fc.constant('function' as const),
  }),
  record({
    name: fc.constantFrom('c', 'd'),
    description: fc.option(anyText),
    parameters: fc.constant(null),
    strict: fc.constant(null),
    kind: fc.constant('custom' as const),
  }),
);
const anyTools = fc
  .uniqueArray(anyTool, { maxLength: 3, selector: ({ name }) => name })
  .chain((tools) => {
    if (tools.length === 0)
      return fc.constant({ tools, toolChoice: null, parallelToolCalls: null });
    const byName = fc.constantFrom(...tools).map(({ name }) => ({ type: 'tool' as const, name }));
    const plain = fc.constantFrom(
      { type: 'auto' as const },
      { type: 'required' as const },
      { type: 'none' as const },
    );
    return record({
      tools: fc.constant(tools),
      toolChoice: fc.option(fc.oneof(byName, plain)),
      parallelToolCalls: fc.option(fc.boolean()),
    });
  });

/** Requests that Chat can express without loss, for a host whose models show their reasoning. */
const anyRequest: fc.Arbitrary<CanonicalRequest> = fc
  .tuple(
    anyTools,
    record({
      system: fc
        .option(anyText)
        .map((text) => (text === null ? [] : [{ type: 'text' as const, text }])),
      messages: anyMessages,
      maxOutputTokens: fc.integer({ min: 1, max: 99_999 }),
      temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true }).map(Math.abs)),
      topP: fc.option(fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs)),
      seed: fc.option(fc.integer()),
      frequencyPenalty: fc.option(fc.integer({ min: -2, max: 2 })),
      presencePenalty: fc.option(fc.integer({ min: -2, max: 2 })),
      stopSequences: fc.array(anyText, { maxLength: 4 }),
      reasoning: fc.option(
        fc
          .constantFrom('none' as const, 'low' as const, 'medium' as const, 'high' as const)
          .map((effort) => ({ effort, budgetTokens: null })),
      ),
      outputFormat: fc.oneof(
        fc.constantFrom({ type: 'text' as const }, { type: 'json' as const }),
        typed('json-schema', {
          name: fc.constant('answer'),
          description: fc.option(anyText),
          schema: anyJsonObject.map((schema) => mendSchema(schema)),
          strict: fc.option(fc.boolean()),
        }),
      ),
      endUser: fc.option(fc.uuid()),
    }),
  )
  .map(([tools, rest]) => withNamedJson({ ...emptyRequest, ...rest, ...tools }));

test('every request that Chat can express is valid when written, and survives being read', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const { body, ignored } = writeRequest(request, {
        ...target,
        model: 'claude-opus-4.5',
        isOpenAi: false,
        maxOutputTokens: request.maxOutputTokens!,
      });
      assert.deepEqual(ignored, []);
      const parsed = parseRequest(JSON.parse(JSON.stringify(body)), { chatMaxTokens: null });
      assert.deepEqual(readRequest(parsed), request);
    }),
  );
});

const think = (text: string): Message => assistantTurn(thinkingPart(text), 'a');
const say = (text: string): Message => assistantTurn(text);
const host = { isOpenAi: false } as const;

test('every answer gets a reasoning field when one has it, and always for DeepSeek and Moonshot', () => {
  const replayed = sentMessages({ messages: [think('hm'), say('b')] }, host);
  assert.deepEqual(
    replayed.map((message) => message.reasoning_content),
    ['hm', ''],
  );
  const fresh = (model: string) => sentMessages({ messages: [say('b')] }, { ...host, model })[0]!;
  assert.equal(fresh('deepseek-v4-pro').reasoning_content, '');
  // Moonshot counts an empty text as missing.
  assert.equal(fresh('kimi-k3').reasoning_content, ' ');
  assert.ok(!('reasoning_content' in fresh('grok-4.7')));
});

test('an effort is left out and listed where the model has no levels', () => {
  const asked = (effort: Effort) =>
    write({ reasoning: { effort, budgetTokens: null } }, { isOpenAi: false, model: 'grok-4.20' });
  assert.ok(!('reasoning_effort' in asked('high').body));
  assert.deepEqual(asked('high').ignored, ['reasoning_effort']);
});

test('thinking requested without a level is left to the model', () => {
  const reasoning = { effort: null, budgetTokens: null };
  assert.ok(!('reasoning_effort' in write({ reasoning }).body));
  assert.deepEqual(write({ reasoning }, { thinking: false }).ignored, ['reasoning_effort']);
});

test('an unknown level becomes the nearest one that the model accepts', () => {
  const effort = (model: string, changes = {}) =>
    write({ reasoning: { effort: 'xhigh', budgetTokens: null } }, { model, ...changes }).body
      .reasoning_effort;
  assert.equal(effort('gpt-5'), 'high');
  assert.equal(effort('gpt-5.2'), 'xhigh');
  assert.equal(effort('llama', host), 'high');
});

test('OpenAI’s thinking models get sampling parameters only when thinking is switched off', () => {
  const sampling = { temperature: 0.2, topP: 0.9, frequencyPenalty: 1, presencePenalty: 1 };
  const names = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'];
  assert.deepEqual(write(sampling).ignored, names);
  assert.ok(names.every((name) => !(name in write(sampling).body)));
  for (const changes of [host, { thinking: false }]) {
    assert.ok(names.every((name) => name in write(sampling, changes).body));
    assert.deepEqual(write(sampling, changes).ignored, []);
  }
  const unthinking = write(
    { ...sampling, reasoning: { effort: 'none', budgetTokens: null } },
    { model: 'gpt-5.2' },
  );
  assert.ok(names.every((name) => name in unthinking.body));
});

test('only the beginning of an answer is marked, not what comes before one that is left out', () => {
  const marking = {
    ...host,
    prefill: { mark: 'prefix' },
    refusedHistory: ['reasoning', 'reasoning_content', 'reasoning_details'],
  } as const;
  const lastOf = (...messages: readonly Message[]) => {
    const asked = { ...empty, messages, isPrefilled: true } as const;
    const { body } = writeRequest(makeAnswerable(asked), { ...target, ...marking });
    return (body.messages as unknown[]).at(-1);
  };
  const asked = userTurn(textPart('q'));
  assert.deepEqual(lastOf(asked, say('{')), { role: 'assistant', content: '{', prefix: true });
  const thought = assistantTurn(thinkingPart('hm'));
  assert.deepEqual(lastOf(asked, thought), {
    role: 'user',
    content: 'q',
  });
  assert.deepEqual(lastOf(asked, say('ok'), userTurn(textPart(' ')), say('')), {
    role: 'user',
    content: '(empty message)',
  });
});

test('a prefilled answer is sent to other hosts and refused for OpenAI', () => {
  const changes = { messages: [...empty.messages, say('{')], isPrefilled: true } as const;
  assertRefused(() => write(changes), 'messages');
  assert.deepEqual((write(changes, host).body.messages as unknown[]).at(-1), {
    role: 'assistant',
    content: '{',
  });
});

test('the client’s user is sent as safety_identifier to OpenAI and as user to others', () => {
  assert.equal(write({ endUser: 'ann' }).body.safety_identifier, 'ann');
  assert.equal(write({ endUser: 'ann' }, host).body.user, 'ann');
});

test('verbosity goes only to models that accept it', () => {
  assert.equal(write({ verbosity: 'low' }, { model: 'gpt-5.2' }).body.verbosity, 'low');
  assert.deepEqual(write({ verbosity: 'low' }, { model: 'gpt-4o' }).ignored, ['verbosity']);
  assert.deepEqual(write({ verbosity: 'low' }, { ...host, model: 'gpt-5.2' }).ignored, [
    'verbosity',
  ]);
});

test('a text document is sent as text to every host, in user turns and tool results', () => {
  const data = Buffer.from('Ruby is a language.').toString('base64');
  const document = {
    type: 'document',
    source: { kind: 'base64', mediaType: 'text/plain', data },
    name: 'facts.txt',
  } as const;
  const text = textPart('<document name="facts.txt">\nRuby is a language.\n</document>');
  assert.deepEqual(writeMessages(userTurn(document)), [userTurn(text)]);
  const result = resultPart('c', document);
  assert.deepEqual(writeMessages({ role: 'tool', content: [result] }), [
    { role: 'tool', tool_call_id: 'c', content: text.text },
  ]);
});

test('a call without arguments gets an empty object, and earlier citations are left out and listed', () => {
  const call = callPart('c', 'f', '');
  const [message] = writeMessages(assistantTurn(call));
  assert.deepEqual(message!.tool_calls, [
    { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } },
  ]);
  const citation = pageCitation();
  const cited = write({
    messages: [assistantTurn({ type: 'text', text: 'x', citations: [citation] })],
  });
  assert.deepEqual(cited.ignored, ['annotations']);
  assert.deepEqual(cited.body.messages, [{ role: 'assistant', content: 'x' }]);
});

test('stop sequences are sent, or emulated for thinking models of OpenAI and xAI and beyond four', () => {
  const stopSequences = ['a', 'b', 'c', 'd'];
  const emulates = (targetChanges: Partial<UpstreamTarget>, sequences = stopSequences) => {
    const { body, emulated } = write({ stopSequences: sequences }, targetChanges);
    assert.deepEqual(
      [body.stop, emulated?.stopSequences],
      emulated ? [undefined, sequences] : [sequences, undefined],
    );
    return emulated !== undefined;
  };
  const openAi = { isOpenAi: true } as const;
  assert.equal(emulates({ ...openAi, thinking: true }), true);
  assert.equal(emulates({ ...openAi, thinking: false }), false);
  assert.equal(emulates({ ...host, thinking: true }), false);
  assert.equal(emulates({ ...host, thinking: true, model: 'grok-4.5' }), true);
  assert.ok(emulates({ ...host, thinking: false }, [...stopSequences, 'e']));
  assert.equal(write({ stopSequences: [] }, { ...openAi, thinking: true }).emulated, undefined);
});

test('schemas fit Kimi on every host, and what moves into the description is listed', () => {
  const tool = (name: string, parameters: JsonObject): Tool => ({
    name,
    description: null,
    parameters,
    strict: null,
    kind: 'function',
  });
  const schema = { type: 'object', properties: { unit: { enum: ['C', 'F'] } } };
  const either = { ...schema, anyOf: [{ required: ['unit'] }, { required: ['city'] }] };
  const changes: Partial<CanonicalRequest> = {
    tools: [tool('find', schema), tool('list', either)],
    outputFormat: { type: 'json-schema', name: 'weather', description: null, schema, strict: null },
  };
  const { body, ignored } = write(changes, { model: 'moonshotai/kimi-k3', isOpenAi: false });
  const unit = { unit: { type: 'string', enum: ['C', 'F'] } };
  const tools = body.tools as { function: { parameters: JsonObject } }[];
  const parameters = tools.map((sent) => sent.function.parameters);
  assert.deepEqual(parameters, [
    { type: 'object', properties: unit },
    {
      type: 'object',
      properties: unit,
      description: '{anyOf: [{"required":["unit"]},{"required":["city"]}]}',
    },
  ]);
  assert.deepEqual(body.response_format, {
    type: 'json_schema',
    json_schema: { name: 'weather', schema: { type: 'object', properties: unit } },
  });
  assert.deepEqual(ignored, ['tools.anyOf']);
  const others = write(changes, { isOpenAi: false }).body.tools as typeof tools;
  assert.deepEqual(
    others.map((sent) => sent.function.parameters),
    [schema, either],
  );
});
