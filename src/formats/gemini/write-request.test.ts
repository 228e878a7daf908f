import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assistantTurn,
  callPart,
  systemTurn,
  userTurn,
} from '../../../tests/support/canonical/parts.ts';
import type { ApiError } from '../../canonical/errors.ts';
import { effortLevels } from '../../canonical/request.ts';
import type {
  CanonicalRequest,
  Effort,
  Message,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { repairConversation } from '../adapting/repair-conversation.ts';
import type { UpstreamTarget } from '../format.ts';
import {
  canonicalRequest,
  upstreamTarget,
  userMessage,
  weatherTool,
} from '../../../tests/support/formats/gemini.ts';
import { writeRequest } from './write-request.ts';

type Body = {
  readonly contents: readonly { readonly role: string; readonly parts: readonly JsonObject[] }[];
  readonly systemInstruction?: object;
  readonly tools?: readonly { readonly functionDeclarations: readonly JsonObject[] }[];
  readonly toolConfig?: object;
  readonly generationConfig: JsonObject;
};

function write(fields: Partial<CanonicalRequest>, target: Partial<UpstreamTarget> = {}) {
  const { body, ...rest } = writeRequest(canonicalRequest(fields), upstreamTarget(target));
  return { body: body as Body, ...rest };
}

function refusal(
  fields: Partial<CanonicalRequest>,
  target: Partial<UpstreamTarget> = {},
): ApiError {
  try {
    write(fields, target);
  } catch (error) {
    return error as ApiError;
  }
  throw new Error('nothing was refused');
}

const call = (id: string, name = 'get_weather', args = '{"city":"Paris"}'): Message =>
  assistantTurn(callPart(id, name, args));

const result = (callId: string, content: ToolResultPart['content'], isError = false): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId, content, isError }],
});

const text = (value: string) => ({ type: 'text' as const, text: value });
const skipped = { thoughtSignature: 'skip_thought_signature_validator' };

test('a plain question becomes one turn with the output limit', () => {
  assert.deepEqual(write({}), {
    body: {
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      generationConfig: { maxOutputTokens: 4_096 },
    },
    emulated: {},
    ignored: [],
  });
});

test('leading instructions become systemInstruction, and later ones marked user text', () => {
  const { body } = write({
    system: [text('One'), text('')],
    messages: [
      systemTurn('Two'),
      userMessage('Hi'),
      assistantTurn('Hello'),
      systemTurn('Three'),
      userMessage('Go on'),
    ],
  });
  assert.deepEqual(body.systemInstruction, { parts: [{ text: 'One' }, { text: 'Two' }] });
  assert.deepEqual(body.contents, [
    { role: 'user', parts: [{ text: 'Hi' }] },
    { role: 'model', parts: [{ text: 'Hello' }] },
    { role: 'user', parts: [{ text: '<system>\nThree\n</system>' }, { text: 'Go on' }] },
  ]);
});

test('turns alternate: turns of one role are joined, also across an emptied turn', () => {
  const unsigned = { type: 'thinking' as const, text: 'hm', signature: null, redacted: false };
  const { body, ignored } = write({
    messages: [
      userMessage('a'),
      userMessage('b'),
      assistantTurn(unsigned),
      userMessage('c'),
      userMessage(''),
    ],
  });
  assert.deepEqual(body.contents, [
    { role: 'user', parts: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] },
  ]);
  assert.deepEqual(ignored, ['thinking']);
});

const image = (fields: object) => ({ type: 'image' as const, ...fields }) as UserPart;
const mediaCases: Record<string, [part: UserPart, parts: object[]]> = {
  'base64 goes inline': [
    image({ source: { kind: 'base64', mediaType: 'image/webp', data: 'AAAA' } }),
    [{ inlineData: { mimeType: 'image/webp', data: 'AAAA' } }],
  ],
  'an address tells its type by its ending': [
    image({ source: { kind: 'url', url: 'https://h/a.PNG?x=1' } }),
    [{ fileData: { fileUri: 'https://h/a.PNG?x=1', mimeType: 'image/png' } }],
  ],
  'an address without an ending has the usual type': [
    image({ source: { kind: 'url', url: 'https://h/constructor' } }),
    [{ fileData: { fileUri: 'https://h/constructor', mimeType: 'image/jpeg' } }],
  ],
  'a PDF keeps its name as a text': [
    {
      type: 'document',
      name: 'a.pdf',
      source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBE' },
    },
    [{ text: 'Document "a.pdf":' }, { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } }],
  ],
  'a document by its address': [
    { type: 'document', source: { kind: 'url', url: 'https://h/report' } },
    [{ fileData: { fileUri: 'https://h/report', mimeType: 'application/pdf' } }],
  ],
  'a text document': [
    { type: 'document', source: { kind: 'base64', mediaType: 'text/markdown', data: 'IyBI' } },
    [{ inlineData: { mimeType: 'text/plain', data: 'IyBI' } }],
  ],
};

for (const [name, [part, parts]] of Object.entries(mediaCases)) {
  test(`media: ${name}`, () => {
    assert.deepEqual(write({ messages: [userTurn(part)] }).body.contents[0]!.parts, parts);
  });
}

test('a document that Gemini cannot read is refused by name', () => {
  const source = { kind: 'base64' as const, mediaType: 'application/msword', data: 'AAAA' };
  const error = refusal({ messages: [userTurn({ type: 'document', name: 'a.doc', source })] });
  assert.match(error.message, /"a\.doc" of type "application\/msword" .* send PDF, text or sound/);
});

for (const mediaType of ['audio/mp3', 'video/mp4', 'text/plain', '']) {
  test(`an image of type "${mediaType}" is refused`, () => {
    const source = { kind: 'base64' as const, mediaType, data: 'AAAA' };
    const content = [{ type: 'image' as const, source }];
    const error = refusal({ messages: [{ role: 'user', content }] });
    assert.ok(error.message.includes(`image of type "${mediaType}" cannot be read`), error.message);
  });
}

const refusedAddresses = [
  'https://generativelanguage.googleapis.com/v1beta/files/abc-123',
  'https://GenerativeLanguage.GoogleAPIs.com./v1beta/files/abc-123',
  'https://x@us-generativelanguage.googleapis.com:443/v1beta/files/abc-123',
  'https://www.youtube.com/watch?v=abc',
  'https://youtu.be/abc',
  'https://',
];

for (const url of refusedAddresses) {
  test(`the URL ${url} is refused: it would be read with the operator’s credential, or as a video`, () => {
    const part = image({ source: { kind: 'url', url } });
    assert.match(refusal({ messages: [userTurn(part)] }).message, /cannot be used with this model/);
    assert.match(
      refusal({ messages: [userMessage('x'), call('a'), result('a', [part])] }).message,
      /cannot be used/,
    );
  });
}

test('public storage and hosts that only look like Google’s are accepted', () => {
  for (const url of [
    'https://storage.googleapis.com/b/a.png',
    'https://notyoutube.com/a.png',
    'https://googleapis.com.example/a.png',
  ]) {
    const { body } = write({ messages: [userTurn(image({ source: { kind: 'url', url } }))] });
    assert.deepEqual(body.contents[0]!.parts, [
      { fileData: { fileUri: url, mimeType: 'image/png' } },
    ]);
  }
});

test('functions keep their schema unchanged', () => {
  const parameters = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    properties: { n: { type: 'number', exclusiveMinimum: 0 } },
    propertyNames: { pattern: '^n' },
    additionalProperties: false,
  };
  const { body } = write({
    tools: [
      { ...weatherTool, parameters },
      { ...weatherTool, name: 'now', description: null, parameters: null },
    ],
  });
  assert.deepEqual(body.tools, [
    {
      functionDeclarations: [
        {
          name: 'get_weather',
          description: 'The weather of a city',
          parametersJsonSchema: { type: 'object', ...parameters },
        },
        { name: 'now' },
      ],
    },
  ]);
  assert.equal(body.toolConfig, undefined);
});

const choices: [choice: CanonicalRequest['toolChoice'], config: object][] = [
  [{ type: 'auto' }, { mode: 'AUTO' }],
  [{ type: 'none' }, { mode: 'NONE' }],
  [{ type: 'required' }, { mode: 'ANY' }],
  [
    { type: 'tool', name: 'get_weather' },
    { mode: 'ANY', allowedFunctionNames: ['get_weather'] },
  ],
];

for (const [toolChoice, functionCallingConfig] of choices) {
  test(`the tool choice ${toolChoice!.type} becomes ${JSON.stringify(functionCallingConfig)}`, () => {
    assert.deepEqual(write({ tools: [weatherTool], toolChoice }).body.toolConfig, {
      functionCallingConfig,
    });
  });
}

test('a choice without tools is dropped', () => {
  assert.deepEqual(write({ toolChoice: { type: 'none' } }).body.toolConfig, undefined);
});

test('results of parallel calls are sent in the order of the calls, before other content, with each function’s name', () => {
  const { messages } = repairConversation(
    canonicalRequest({
      messages: [
        userMessage('Weather?'),
        assistantTurn(
          callPart('a', 'get_weather', '{"city":"Paris"}'),
          callPart('b', 'get_time', ''),
        ),
        userMessage('Quick!'),
        result('b', [text('noon')]),
        result('a', [text('no such city'), text('try again')], true),
      ],
    }),
  );
  const { body } = write({ messages });
  assert.deepEqual(body.contents.slice(1), [
    {
      role: 'model',
      parts: [
        { functionCall: { id: 'a', name: 'get_weather', args: { city: 'Paris' } }, ...skipped },
        { functionCall: { id: 'b', name: 'get_time', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'a',
            name: 'get_weather',
            response: { error: 'no such city\ntry again' },
          },
        },
        { functionResponse: { id: 'b', name: 'get_time', response: { output: 'noon' } } },
        { text: 'Quick!' },
      ],
    },
  ]);
});

test('a conversation cut to begin with a call gets a user turn first', () => {
  const rolesOf = (...messages: Message[]) =>
    write({ messages }).body.contents.map(({ role }) => role);
  assert.deepEqual(rolesOf(call('a'), result('a', [text('y')])), ['user', 'model', 'user']);
  const greeting: Message = assistantTurn('How can I help?');
  assert.deepEqual(rolesOf(greeting, userMessage('x')), ['model', 'user']);
});

test('a call without a signature gets the placeholder only when signatures are checked', () => {
  const messages = [userMessage('x'), call('a'), result('a', [text('y')])];
  const first = (model: string) =>
    write({ messages }, { model }).body.contents[1]!.parts[0]!['thoughtSignature'];
  assert.equal(first('gemini-3.1-pro-preview'), 'skip_thought_signature_validator');
  assert.equal(first('gemini-flash-latest'), 'skip_thought_signature_validator');
  assert.equal(first('gemini-2.5-pro'), undefined);
});

const png = { kind: 'base64' as const, mediaType: 'image/png', data: 'iVBO' };

test('images are inside their result since Gemini 3; before, and by URL, they follow all results', () => {
  const content = [
    text('Here'),
    { type: 'image' as const, source: png },
    { type: 'image' as const, source: { kind: 'url' as const, url: 'https://h/b.png' } },
  ];
  const messages = [userMessage('x'), call('a'), result('a', content)];
  const inline = { inlineData: { mimeType: 'image/png', data: 'iVBO' } };
  const linked = { fileData: { fileUri: 'https://h/b.png', mimeType: 'image/png' } };
  const response = { output: 'Here\n[The attachments of this result follow.]' };
  const label = { text: '[Attachments of the result of tool call a]' };
  assert.deepEqual(write({ messages }).body.contents[2]!.parts, [
    { functionResponse: { id: 'a', name: 'get_weather', response, parts: [inline] } },
    label,
    linked,
  ]);
  assert.deepEqual(write({ messages }, { model: 'gemini-2.5-flash' }).body.contents[2]!.parts, [
    { functionResponse: { id: 'a', name: 'get_weather', response } },
    label,
    inline,
    linked,
  ]);
});

test('a document inside a result keeps its name, and what follows behind the result is announced', () => {
  const source = { kind: 'base64' as const, mediaType: 'application/pdf', data: 'JVBE' };
  const content = [
    text('Here'),
    { type: 'document' as const, source, name: 'Bill' },
    { type: 'image' as const, source: { kind: 'url' as const, url: 'https://h/b.png' } },
  ];
  const messages = [userMessage('x'), call('a'), result('a', content)];
  const [part] = write({ messages }).body.contents[2]!.parts;
  assert.partialDeepStrictEqual(part, {
    functionResponse: {
      response: { output: 'Here\n[The attachments of this result follow.]\nDocument "Bill":' },
    },
  });
});

test('more effort never gets a smaller thinking budget', () => {
  for (const model of ['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-2.5-flash-lite']) {
    for (const maxOutputTokens of [500, 2_000, 8_192, 9_000, 24_576, 32_000, 64_000, 65_536]) {
      const budgets = effortLevels.slice(1).map((effort) => {
        const reasoning = { effort, budgetTokens: null };
        const config = write({ reasoning }, { model, maxOutputTokens }).body.generationConfig;
        return (config.thinkingConfig as { thinkingBudget: number }).thinkingBudget;
      });
      const sorted = budgets.toSorted((first, second) => first - second);
      assert.deepEqual(budgets, sorted, `${model} ${maxOutputTokens}`);
    }
  }
});

test('a prefilled answer is sent to models that continue it and refused for others', () => {
  const messages: Message[] = [userMessage('Count'), assistantTurn('One,')];
  assert.deepEqual(write({ messages }).body.contents[1], {
    role: 'model',
    parts: [{ text: 'One,' }],
  });
  for (const model of ['gemini-3.6-flash', 'gemini-3.5-flash-lite', 'gemini-4-argon']) {
    assert.match(
      refusal({ messages }, { model }).message,
      /does not continue an assistant message/,
    );
  }
});

/** `asked`: an effort or a budget. */
const thinkingCases: [model: string, asked: Effort | number | null, config: object][] = [
  ['gemini-3-flash-preview', 'none', { thinkingLevel: 'MINIMAL' }],
  ['gemini-3-flash-preview', 'minimal', { thinkingLevel: 'MINIMAL', includeThoughts: true }],
  ['gemini-3.8-flash', 'minimal', { thinkingLevel: 'LOW', includeThoughts: true }],
  ['gemini-3.1-pro-preview', 'none', { thinkingLevel: 'LOW' }],
  ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
  ['gemini-4-argon', 'max', { thinkingLevel: 'HIGH', includeThoughts: true }],
  ['gemini-4-hydrogen', 'xhigh', { thinkingLevel: 'XHIGH', includeThoughts: true }],
  ['gemini-4-neon', 'max', { thinkingLevel: 'XHIGH', includeThoughts: true }],
  ['gemini-3.5-flash', 2_000, { thinkingLevel: 'LOW', includeThoughts: true }],
  ['gemini-3.5-flash', 0, { thinkingLevel: 'MINIMAL' }],
  ['gemini-2.5-flash', null, { includeThoughts: true }],
  ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
  ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
  ['gemini-2.5-flash', 'medium', { thinkingBudget: 8_192, includeThoughts: true }],
  ['gemini-2.5-pro', 'max', { thinkingBudget: 32_768, includeThoughts: true }],
  ['gemini-2.5-flash', 60_000, { thinkingBudget: 24_576, includeThoughts: true }],
  ['gemini-2.5-flash-lite', 100, { thinkingBudget: 512, includeThoughts: true }],
];

for (const [model, asked, config] of thinkingCases) {
  test(`${model}, asked for ${asked}, thinks as ${JSON.stringify(config)}`, () => {
    const isBudget = typeof asked === 'number';
    const reasoning = isBudget
      ? { effort: null, budgetTokens: asked }
      : { effort: asked, budgetTokens: null };
    const { body, ignored } = write({ reasoning }, { model, maxOutputTokens: 65_536 });
    assert.deepEqual([body.generationConfig['thinkingConfig'], ignored], [config, []]);
  });
}

test('a request that asks for no reasoning sets none', () => {
  assert.equal(write({ reasoning: null }).body.generationConfig['thinkingConfig'], undefined);
});

test('a budget that would fill the output limit leaves room for an answer', () => {
  const { body } = write(
    { reasoning: { effort: 'high', budgetTokens: null } },
    { model: 'gemini-2.5-flash', maxOutputTokens: 1_000 },
  );
  assert.deepEqual(body.generationConfig['thinkingConfig'], {
    thinkingBudget: 500,
    includeThoughts: true,
  });
});

test('effort on a model that does not think is listed', () => {
  const written = write({ reasoning: { effort: 'high', budgetTokens: null } }, { thinking: false });
  assert.deepEqual(written.body.generationConfig, { maxOutputTokens: 4_096 });
  assert.deepEqual(written.ignored, ['reasoning_effort']);
});

const sampling = {
  temperature: 0.5,
  topP: 0.9,
  topK: 40,
  seed: 7,
  frequencyPenalty: 0.1,
  presencePenalty: 0.2,
};
const samplingCases: Record<string, [taken: object, ignored: string[]]> = {
  'gemini-2.0-flash': [sampling, []],
  'gemini-2.5-pro': [
    { temperature: 0.5, topP: 0.9, topK: 40, seed: 7 },
    ['frequency_penalty', 'presence_penalty'],
  ],
  'gemini-3.6-flash': [
    { seed: 7 },
    ['temperature', 'top_p', 'top_k', 'frequency_penalty', 'presence_penalty'],
  ],
};

for (const [model, [taken, ignored]] of Object.entries(samplingCases)) {
  test(`${model} accepts ${Object.keys(taken).join(', ')}`, () => {
    const written = write(sampling, { model });
    assert.deepEqual(written.body.generationConfig, { maxOutputTokens: 4_096, ...taken });
    assert.deepEqual(written.ignored, ignored);
  });
}

test('a penalty of 0 means none, and a seed beyond 32 bits is listed', () => {
  const written = write({ frequencyPenalty: 0, presencePenalty: 0, seed: 2 ** 31 });
  assert.deepEqual(written.body.generationConfig, { maxOutputTokens: 4_096 });
  assert.deepEqual(written.ignored, ['seed']);
});

test('five stop sequences are sent, six are emulated', () => {
  const five = ['a', 'b', 'c', 'd', 'e'];
  const six = [...five, 'f'];
  assert.deepEqual(write({ stopSequences: five }).body.generationConfig['stopSequences'], five);
  assert.deepEqual(write({ stopSequences: five }).emulated, {});
  assert.equal(write({ stopSequences: six }).body.generationConfig['stopSequences'], undefined);
  assert.deepEqual(write({ stopSequences: six }).emulated, { stopSequences: six });
});

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const format = {
  type: 'json-schema' as const,
  name: 'city',
  description: null,
  schema,
  strict: true,
};

test('JSON is requested by its type, with the schema beside it and the description inside', () => {
  const config = (outputFormat: CanonicalRequest['outputFormat']) =>
    write({ outputFormat }).body.generationConfig;
  assert.deepEqual(config({ type: 'json' }), {
    maxOutputTokens: 4_096,
    responseMimeType: 'application/json',
  });
  assert.deepEqual(config(format)['responseJsonSchema'], schema);
  assert.deepEqual(config({ ...format, description: 'A city' })['responseJsonSchema'], {
    description: 'A city',
    ...schema,
  });
});

test('JSON mode beside tools is emulated before Gemini 3', () => {
  const fields = { outputFormat: { type: 'json' as const }, tools: [weatherTool] };
  assert.equal(write(fields).body.generationConfig['responseMimeType'], 'application/json');
  const { body, emulated } = write(fields, { model: 'gemini-2.5-flash' });
  assert.deepEqual(body.generationConfig, { maxOutputTokens: 4_096 });
  assert.deepEqual(emulated, { jsonObject: true });
  assert.match(JSON.stringify(body['systemInstruction']), /single JSON object/);
});

test('structured output beside tools is refused before Gemini 3', () => {
  const fields = { outputFormat: format, tools: [weatherTool] };
  assert.equal(write(fields).body.generationConfig['responseMimeType'], 'application/json');
  assert.match(
    refusal(fields, { model: 'gemini-2.5-flash' }).message,
    /JSON output together with tools/,
  );
});

test('fields that Gemini lacks are listed', () => {
  const mark = { cacheControl: { type: 'ephemeral' as const } };
  const { ignored } = write({
    messages: [
      {
        role: 'user',
        content: [
          { ...text('x'), ...mark },
          { type: 'image', detail: 'high', source: png },
        ],
      },
      call('a'),
      result('a', [text('y')]),
    ],
    tools: [{ ...weatherTool, strict: true }],
    parallelToolCalls: false,
    endUser: 'u',
    metadata: { a: 'b' },
    promptCacheKey: 'k',
    verbosity: 'low',
  });
  assert.deepEqual(
    new Set(ignored),
    new Set(
      (
        'parallel_tool_calls tools.strict user metadata prompt_cache_key cache_control detail ' +
        'verbosity'
      ).split(' '),
    ),
  );
  const inner = { type: 'image' as const, detail: 'low', source: png };
  assert.deepEqual(
    write({ messages: [userMessage('x'), call('a'), result('a', [inner])] }).ignored,
    ['detail'],
  );
  assert.deepEqual(
    write({ messages: [userTurn({ type: 'image', detail: 'auto', source: png })] }).ignored,
    [],
  );
});

test('a function without arguments has no schema, and one that takes any keeps its own', () => {
  const schemaOf = (parameters: JsonObject) => {
    const [tool] = write({ tools: [{ ...weatherTool, parameters }] }).body.tools as {
      functionDeclarations: JsonObject[];
    }[];
    return tool!.functionDeclarations[0]!.parametersJsonSchema;
  };
  assert.equal(schemaOf({ type: 'object' }), undefined);
  assert.equal(
    schemaOf({ type: 'object', properties: {}, additionalProperties: false }),
    undefined,
  );
  assert.deepEqual(schemaOf({ additionalProperties: { type: 'string' } }), {
    additionalProperties: { type: 'string' },
    type: 'object',
  });
});
