import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyRequest } from '../../../tests/support/canonical/empty-request.ts';
import { textPart, userTurn } from '../../../tests/support/canonical/parts.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { UpstreamTarget } from '../format.ts';
import { writeRequest } from './write-request.ts';

const nova = 'us.amazon.nova-2-lite-v1:0';
const claude = 'us.anthropic.claude-sonnet-5';
const llama = 'meta.llama4-scout-17b-instruct-v1:0';

function write(
  fields: Partial<CanonicalRequest>,
  model = nova,
  target: Partial<UpstreamTarget> = {},
) {
  return writeRequest(
    { ...emptyRequest, messages: [userTurn('Hi')], ...fields },
    { model, stream: false, maxOutputTokens: 99, thinking: true, isOpenAi: false, ...target },
  );
}

const tool = {
  name: 'get_weather',
  description: 'Weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: null,
  kind: 'function',
} as const;
const call = {
  type: 'tool-call',
  id: 'call 1/ä',
  name: 'get_weather',
  arguments: '{"city":"Oslo"}',
  kind: 'function',
} as const;
const history = [
  userTurn('Weather?'),
  { role: 'assistant', content: [call, textPart('I look.')] },
  { role: 'tool', content: [{ type: 'tool-result', callId: call.id, content: [], isError: true }] },
] as const satisfies CanonicalRequest['messages'];

test('a plain request has messages, instructions and a limit', () => {
  const { body, ignored } = write({ system: [textPart('Be brief.'), textPart(' ')] });
  assert.deepEqual(body, {
    messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
    system: [{ text: 'Be brief.' }],
    inferenceConfig: { maxTokens: 99 },
  });
  assert.deepEqual(ignored, []);
});

test('a call stands behind the text of its turn, and its empty failure has a text', () => {
  const { body } = write({ messages: history, tools: [tool] });
  const [, assistant, results] = body['messages'] as { content: JsonObject[] }[];
  assert.deepEqual(assistant!.content[0], { text: 'I look.' });
  const { toolUseId, ...rest } = assistant!.content[1]!['toolUse'] as JsonObject;
  assert.deepEqual(rest, { name: 'get_weather', input: { city: 'Oslo' } });
  assert.match(String(toolUseId), /^[\w.:-]{1,64}$/);
  assert.deepEqual(results!.content[0], {
    toolResult: { toolUseId, content: [{ text: '(no output)' }], status: 'error' },
  });
});

test('Mistral’s models get ids of nine letters and digits', () => {
  const { body } = write({ messages: history, tools: [tool] }, 'mistral.mistral-large-2407-v1:0');
  assert.match(JSON.stringify(body), /"toolUseId":"[a-zA-Z0-9]{9}"/);
});

test('tools of a history are declared although the request has none', () => {
  const { body } = write({ messages: history });
  assert.deepEqual(body['toolConfig'], {
    tools: [{ toolSpec: { name: 'get_weather', inputSchema: { json: { type: 'object' } } } }],
  });
});

test('each choice of tools has its word; `none` leaves out the tools, or is listed', () => {
  const choice = (toolChoice: CanonicalRequest['toolChoice']) =>
    (
      write({ tools: [tool], toolChoice }).body['toolConfig'] as Record<string, unknown> | undefined
    )?.['toolChoice'];
  assert.equal(choice({ type: 'auto' }), undefined);
  assert.deepEqual(choice({ type: 'required' }), { any: {} });
  assert.deepEqual(choice({ type: 'tool', name: 'get_weather' }), {
    tool: { name: 'get_weather' },
  });
  assert.equal(
    write({ tools: [tool], toolChoice: { type: 'none' } }).body['toolConfig'],
    undefined,
  );
  const kept = write({ tools: [tool], toolChoice: { type: 'none' }, messages: history });
  assert.deepEqual(kept.ignored, ['tool_choice']);
});

test('models that cannot be forced to call get the tools alone, and the answer says so', () => {
  const other = { ...tool, name: 'other' };
  const config = (model: string, toolChoice: CanonicalRequest['toolChoice']) => {
    const { body, ignored } = write({ tools: [tool, other], toolChoice }, model);
    const { tools, toolChoice: choice } = body['toolConfig'] as {
      tools: { toolSpec: { name: string } }[];
      toolChoice?: object;
    };
    return [tools.map(({ toolSpec }) => toolSpec.name), choice, ignored];
  };
  const named = { type: 'tool', name: 'other' } as const;
  const both = ['get_weather', 'other'];
  const large = 'mistral.mistral-large-2402-v1:0';
  assert.deepEqual(config(llama, { type: 'required' }), [both, undefined, ['tool_choice']]);
  assert.deepEqual(config(llama, named), [['other'], undefined, ['tool_choice']]);
  // The history calls the one that is not asked for.
  const kept = write({ tools: [tool, other], toolChoice: named, messages: history }, llama).body;
  const { tools: specs } = kept['toolConfig'] as { tools: object[] };
  const [own] = (write({ tools: [tool] }, llama).body['toolConfig'] as { tools: object[] }).tools;
  assert.deepEqual(specs[1], own);
  assert.deepEqual(config(llama, { type: 'auto' }), [both, undefined, []]);
  const before = write({ tools: [tool, other], toolChoice: named, messages: history }, llama).body;
  const described = JSON.stringify(before['toolConfig']).split('"city"').length - 1;
  assert.equal(described, 2, 'a tool of the history keeps its parameters');
  assert.deepEqual(config(large, { type: 'required' }), [both, { any: {} }, []]);
  assert.deepEqual(config(large, named), [['other'], { any: {} }, []]);
  for (const model of ['openai.gpt-oss-120b-1:0', claude, 'qwen.qwen3-32b-v1:0'])
    assert.deepEqual(config(model, named), [both, { tool: { name: 'other' } }, []]);
});

test('marks for the cache are blocks behind what they cover, where the model keeps prompts', () => {
  const cacheControl = { type: 'ephemeral', ttl: '1h' } as const;
  const fields = {
    system: [{ ...textPart('Long.'), cacheControl }],
    tools: [{ ...tool, cacheControl }],
  };
  const { body, ignored } = write(fields, claude);
  assert.deepEqual(body['system'], [
    { text: 'Long.' },
    { cachePoint: { type: 'default', ttl: '1h' } },
  ]);
  const { tools } = body['toolConfig'] as { tools: object[] };
  assert.deepEqual(tools[1], { cachePoint: { type: 'default', ttl: '1h' } });
  assert.deepEqual(ignored, []);
  // Nova refuses them among tools, and keeps prompts for five minutes.
  const short = write(fields, nova);
  assert.deepEqual(short.body['system'], [{ text: 'Long.' }, { cachePoint: { type: 'default' } }]);
  assert.equal((short.body['toolConfig'] as { tools: object[] }).tools.length, 1);
  assert.deepEqual(new Set(short.ignored), new Set(['cache_control', 'cache_control.ttl']));
  const other = write(fields, llama);
  assert.deepEqual(other.ignored, ['cache_control']);
  assert.doesNotMatch(JSON.stringify(other.body), /cachePoint/);
});

test('a mark within a result stands behind it, and none behind a document that becomes text', () => {
  const cacheControl = { type: 'ephemeral' } as const;
  const result = {
    type: 'tool-result',
    callId: call.id,
    content: [{ ...textPart('Sun.'), cacheControl }],
    isError: false,
  } as const;
  const answered = {
    messages: [history[0], history[1], { role: 'tool', content: [result] }],
  } as const;
  const contentAfter = (model: string) => {
    const { body, ignored } = write(answered, model);
    const { content } = (body['messages'] as { content: JsonObject[] }[])[2]!;
    assert.deepEqual((content[0]!['toolResult'] as JsonObject)['content'], [{ text: 'Sun.' }]);
    return [content.slice(1), ignored];
  };
  assert.deepEqual(contentAfter(claude), [[{ cachePoint: { type: 'default' } }], []]);
  // Nova refuses a mark right behind a result.
  assert.deepEqual(contentAfter(nova), [[], ['cache_control']]);
  for (const [mediaType, isMarked] of [
    ['application/pdf', true],
    ['text/plain', false],
  ] as const) {
    const source = { kind: 'base64', mediaType, data: 'aGk=' } as const;
    const document = { type: 'document', source, cacheControl } as const;
    const { body, ignored } = write({ messages: [{ role: 'user', content: [document] }] });
    assert.equal(JSON.stringify(body).includes('cachePoint'), isMarked);
    assert.deepEqual(ignored, isMarked ? [] : ['cache_control']);
  }
});

test('reasoning is asked for as each vendor wants it, and listed where it cannot be', () => {
  const fieldsOf = (model: string, effort: 'low' | 'high' | 'none' = 'high') => {
    const written = write({ reasoning: { effort, budgetTokens: null } }, model);
    return [written.body['additionalModelRequestFields'], written.ignored];
  };
  // With `high` it refuses a limit.
  assert.deepEqual(fieldsOf(nova), [
    { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } },
    [],
  ]);
  assert.deepEqual(fieldsOf('openai.gpt-oss-120b-1:0'), [{ reasoning_effort: 'high' }, []]);
  assert.deepEqual(fieldsOf('us.openai.gpt-5.4'), [{ reasoning: { effort: 'high' } }, []]);
  assert.deepEqual(fieldsOf(claude), [
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    [],
  ]);
  assert.deepEqual(fieldsOf(llama), [undefined, ['reasoning_effort']]);
  assert.deepEqual(fieldsOf(llama, 'none'), [undefined, []]);
});

test('Claude’s signed thoughts return to Claude only', () => {
  const signature = { vendor: 'anthropic', value: 'sig' } as const;
  const thought = { type: 'thinking', text: 'Hm.', signature, redacted: false } as const;
  const messages = [
    userTurn('a'),
    { role: 'assistant', content: [thought] },
    userTurn('b'),
  ] as const;
  const { body } = write({ messages }, claude);
  assert.deepEqual((body['messages'] as { content: object[] }[])[1]!.content, [
    { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
  ]);
  // Hidden ones are bytes there, and a text elsewhere.
  const hidden = { ...thought, text: '', redacted: true } as const;
  const withHidden = [messages[0], { role: 'assistant', content: [hidden] }, messages[2]] as const;
  const redacted = write({ messages: withHidden }, claude).body['messages'] as [
    unknown,
    { content: object[] },
  ];
  assert.deepEqual(redacted[1].content, [
    { reasoningContent: { redactedContent: Buffer.from('sig').toString('base64') } },
  ]);
  const other = write({ messages }, llama);
  assert.deepEqual(other.ignored, ['thinking']);
  // The turn is gone, and its neighbours are one.
  assert.deepEqual(other.body['messages'], [
    { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
  ]);
});

test('media are bytes with a format; a document has a name of its own and a text beside it', () => {
  const data = Buffer.from('%PDF-').toString('base64');
  const document = (name: string) =>
    ({
      type: 'document',
      source: { kind: 'base64', mediaType: 'application/pdf', data },
      name,
    }) as const;
  const { body } = write({
    messages: [{ role: 'user', content: [document('a/b  c.pdf'), document('a b c.pdf')] }],
  });
  const [{ content }] = body['messages'] as [{ content: object[] }];
  assert.deepEqual(content, [
    { document: { format: 'pdf', name: 'a b c pdf', source: { bytes: data } } },
    { document: { format: 'pdf', name: 'a b c pdf (2)', source: { bytes: data } } },
    { text: 'a b c pdf' },
  ]);
  const image = { type: 'image', source: { kind: 'url', url: 'https://x.example/a.png' } } as const;
  assert.throws(() => write({ messages: [{ role: 'user', content: [image] }] }), /base64/);
  const odd = { kind: 'base64', mediaType: 'image/tiff', data } as const;
  assert.throws(
    () => write({ messages: [{ role: 'user', content: [{ type: 'image', source: odd }] }] }),
    /PNG, JPEG, GIF or WebP/,
  );
});

test('the gateway searches for more than four stop sequences, and for blank ones of Claude', () => {
  const stopsOf = (stopSequences: readonly string[], model: string) => {
    const { body, emulated } = write({ stopSequences }, model);
    const { stopSequences: sent } = body['inferenceConfig'] as JsonObject;
    return [sent ?? null, emulated?.stopSequences !== undefined];
  };
  assert.deepEqual(stopsOf(['a', ' '], nova), [['a', ' '], false]);
  assert.deepEqual(stopsOf(['a', ' '], claude), [null, true]);
  assert.deepEqual(stopsOf(['a', 'b', 'c', 'd', 'e'], nova), [null, true]);
});

test('a schema is a text, a tier an object, and what has no field is listed', () => {
  const { body, ignored } = write(
    {
      outputFormat: {
        type: 'json-schema',
        name: 'my answer',
        description: null,
        schema: { type: 'object' },
        strict: true,
      },
      temperature: 1.5,
      seed: 1,
      endUser: 'u',
      topK: 3,
      stopSequences: ['a', 'b'],
    },
    nova,
    { tier: 'priority' },
  );
  assert.deepEqual(body['outputConfig'], {
    textFormat: {
      type: 'json_schema',
      structure: { jsonSchema: { name: 'my_answer', schema: '{"type":"object"}' } },
    },
  });
  assert.deepEqual(body['serviceTier'], { type: 'priority' });
  assert.deepEqual(body['inferenceConfig'], {
    maxTokens: 99,
    temperature: 1,
    stopSequences: ['a', 'b'],
  });
  assert.deepEqual(body['additionalModelRequestFields'], { inferenceConfig: { topK: 3 } });
  assert.deepEqual(new Set(ignored), new Set(['seed', 'user', 'temperature']));
});

test('Claude is asked as in its own format: budgets, sampling and forced calls by its generation', () => {
  const haiku = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
  const roomy = { maxOutputTokens: 10_000 };
  const reasoning = { effort: null, budgetTokens: 2_000 };
  const sampling = { temperature: 0.5, topP: 0.9, topK: 5 };
  const written = (fields: Partial<CanonicalRequest>, model: string) => {
    const { body, ignored } = write(fields, model, roomy);
    return [body['inferenceConfig'], body['additionalModelRequestFields'], ignored];
  };
  assert.deepEqual(written({ reasoning, ...sampling }, haiku), [
    { maxTokens: 10_000 },
    { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    ['temperature', 'top_p', 'top_k'],
  ]);
  assert.deepEqual(written(sampling, haiku), [
    { maxTokens: 10_000, temperature: 0.5 },
    { top_k: 5 },
    ['top_p'],
  ]);
  assert.deepEqual(written(sampling, claude), [
    { maxTokens: 10_000 },
    undefined,
    ['temperature', 'top_p', 'top_k'],
  ]);
  const forced = { tools: [tool], toolChoice: { type: 'required' } as const };
  assert.deepEqual(written({ reasoning, ...forced }, haiku).slice(1), [
    undefined,
    ['reasoning_effort'],
  ]);
  // The turn with the calls has no thoughts of its own.
  assert.deepEqual(written({ reasoning, messages: history, tools: [tool] }, haiku).slice(1), [
    undefined,
    ['reasoning_effort'],
  ]);
  const own = { vendor: 'anthropic', value: 'sig' } as const;
  const thought = { type: 'thinking', text: 'Hm.', signature: own, redacted: false } as const;
  const [asked, answer, results] = history;
  const messages = [
    asked,
    { role: 'assistant', content: [thought, ...answer.content] },
    results,
  ] as const;
  assert.deepEqual(written({ reasoning, messages, tools: [tool] }, haiku).slice(1), [
    { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    [],
  ]);
});
