// Checks the verdict tables (src/formats/<wire>/field-verdicts.ts) against the official SDKs' types
// and the straight path: every request field, at any depth, has a verdict, and the verdict is what
// happens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/canonical/errors.ts';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { verdictTable as chatTable } from '../src/formats/chat/field-verdicts.ts';
import { hostTable, openAiTable } from '../src/formats/chat/host-fields.ts';
import type { Verdict, VerdictTable } from '../src/formats/field-verdicts.ts';
import type { JsonObject } from '../src/lib/json.ts';
import type { ClientRequest, UpstreamRequest, UpstreamTarget } from '../src/formats/format.ts';
import { verdictTable as geminiTable } from '../src/formats/gemini/field-verdicts.ts';
import { verdictTable as messagesTable } from '../src/formats/messages/field-verdicts.ts';
import { clientFormats } from '../src/formats/registry.ts';
import { verdictTable as responsesTable } from '../src/formats/responses/field-verdicts.ts';
import fc from './support/property.ts';
import { loadRecordings } from './support/recordings.ts';
import { readSdkFields, type SdkField } from './support/sdk-fields.ts';

type Wire = {
  readonly format: ClientFormatName;
  readonly table: VerdictTable;
  readonly types: readonly { readonly file: string; readonly type: string }[];
  /**
   * Fields, and kinds of parts, that only older types know, that the types leave open, or that the
   * vendor's own program sends.
   */
  readonly older?: readonly string[];
  /** The body to which a probe is added. */
  readonly body: JsonObject;
  /** Required fields of an object type, so that the relay does not drop it for another reason. */
  readonly needed: Readonly<Record<string, JsonObject>>;
};

const anthropic = '@anthropic-ai/sdk/resources';
const wires: readonly Wire[] = [
  {
    format: 'chat',
    table: chatTable,
    types: [
      {
        file: 'openai/resources/chat/completions/completions.d.ts',
        type: 'ChatCompletionCreateParamsBase',
      },
    ],
    body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
    needed: {},
  },
  {
    format: 'responses',
    table: responsesTable,
    types: [
      { file: 'openai/resources/responses/responses.d.ts', type: 'ResponseCreateParamsBase' },
    ],
    older: [
      // The types have it, but not in `input`.
      'input_audio',
      'client_metadata',
      'namespace',
      'parsed',
      'parsed_arguments',
      'read_only',
      'readOnlyHint',
      'destructiveHint',
      'idempotentHint',
      'openWorldHint',
      'created_by',
      // In a newer version of the types.
      'background_options',
      'internal_chat_message_metadata_passthrough',
      // Of WebSockets only.
      'generate',
      // Of Codex's agents.
      'author',
      'recipient',
      'encrypted_function_args',
      // The types have it, but not in parts.
      'encrypted_content',
    ],
    body: { model: 'm', input: 'Hi' },
    needed: {
      reasoning: { encrypted_content: 'the provider’s own' },
      tool_search: { execution: 'client' },
      shell: { environment: { type: 'local' } },
      image_generation_call: { result: 'AA==' },
      compaction: { encrypted_content: 'the provider’s own' },
    },
  },
  {
    format: 'messages',
    table: messagesTable,
    types: [
      { file: `${anthropic}/messages/messages.d.ts`, type: 'MessageCreateParamsBase' },
      { file: `${anthropic}/beta/messages/messages.d.ts`, type: 'MessageCreateParamsBase' },
    ],
    // The last two are Claude Code's.
    older: ['temperature', 'top_p', 'top_k', 'abort_reason', 'category', 'scope', 'safeguards'],
    body: { model: 'm', max_tokens: 2_000, messages: [{ role: 'user', content: 'Hi' }] },
    needed: {
      thinking: { signature: 'the provider’s own' },
      redacted_thinking: { data: 'the provider’s own' },
      enabled: { budget_tokens: 1_024 },
      web_search_result_location: { encrypted_index: 'the provider’s own' },
    },
  },
];

const target: UpstreamTarget = {
  model: 'upstream-model',
  stream: true,
  maxOutputTokens: 2_000,
  thinking: true,
  isOpenAi: true,
};
/** With `limits.unknown_fields: refuse`. */
const strict: Partial<UpstreamTarget> = { unknown: { areRefused: true } };

for (const wire of wires) {
  const fields = wire.types.flatMap(readSdkFields);

  test(`${wire.format}: every field of the official types, at any depth, has a verdict`, () => {
    assert.ok(fields.length > 150, `only ${fields.length} fields are read`);
    const unknown = fields.filter(
      (field) => verdictsOf(wire.table, field).length === 0 && !isCovered(wire.table, field),
    );
    assert.deepEqual(
      unknown.map(({ path }) => path),
      [],
      `decide in src/formats/${wire.format}/field-verdicts.ts`,
    );
  });

  test(`${wire.format}: no verdict is left over from older types, except refusals, which may apply to other hosts`, () => {
    const known = new Set(
      fields.flatMap((field) => kindsOf(field).map((kind) => `${kind}.${field.name}`)),
    );
    const leftOver = Object.entries(wire.table).flatMap(([kind, verdicts]) =>
      Object.entries(verdicts)
        .filter(
          ([name, { rule }]) =>
            rule !== 'refuse' &&
            !known.has(`${kind}.${name}`) &&
            ![kind, name].some((older) => wire.older?.includes(older)),
        )
        .map(([name]) => `${kind}.${name}`),
    );
    assert.deepEqual(leftOver, []);
  });

  test(`${wire.format}: the straight path treats every field as its verdict says`, async (t) => {
    const counts: Record<string, number> = {};
    for (const field of fields) {
      if (isCovered(wire.table, field)) continue;
      const rule = ruleOf(wire.table, field);
      counts[rule] = (counts[rule] ?? 0) + 1;
      checks[rule](wire, field);
    }
    t.diagnostic(JSON.stringify(counts));
  });
}

test('gemini: every field of the official types has a verdict', () => {
  const file = '@google/genai/dist/genai.d.ts';
  const below = (holder: string, type: string) =>
    readSdkFields({ file, type }).map((field) => ({
      ...field,
      path: `${holder}.${field.path}`,
      steps: [{ field: holder, isList: true, type: null }, ...field.steps],
    }));
  // The SDK spreads these over the body and `generationConfig`.
  const config = readSdkFields({ file, type: 'GenerateContentConfig' })
    .filter(({ path }) => !sdkOnly.test(path))
    .map((field) => {
      const root = field.steps[0]?.field ?? field.name;
      if (Object.hasOwn(geminiTable.request, root)) return field;
      const holder = { field: 'generationConfig', isList: false, type: null };
      return { ...field, steps: [holder, ...field.steps] };
    });
  const fields = [...below('contents', 'Content'), ...below('tools', 'Tool'), ...config];
  assert.ok(fields.length > 100, `only ${fields.length} fields are read`);
  const unknown = fields.filter(
    (field) => verdictsOf(geminiTable, field).length === 0 && !isCovered(geminiTable, field),
  );
  assert.deepEqual(
    unknown.map(({ path }) => path).filter((path) => !unsold.test(path)),
    [],
  );
});

/** A tool that is not sold is left out with its fields. */
const unsold =
  /^tools\.(?:retrieval|googleMaps|mcpServers|computerUse|enterpriseWebSearch|exaAiSearch|parallelAiSearch|googleSearchRetrieval|fileSearch)\b/;
/** Not sent, or read above. */
const sdkOnly =
  /^(?:httpOptions|abortSignal|automaticFunctionCalling|automaticContinuation|tools|systemInstruction)\b/;

test('fields that only other Chat hosts know are refused by name', () => {
  const typed = new Set(readSdkFields(wires[0]!.types[0]!).map(({ name }) => name));
  const others = Object.entries(chatTable.request).filter(
    ([name, { rule }]) => rule === 'refuse' && !typed.has(name),
  );
  assert.ok(others.length > 10);
  for (const [name] of others) refused(wires[0]!, { [name]: { probe: true } }, name);
});

test('an invented type hides nothing: a field is also refused, or left out, by its position', () => {
  const [chat, responses, messages] = wires as [Wire, Wire, Wire];
  refused(
    chat,
    { messages: [{ role: 'assistant', type: 'text', audio: { id: 'audio_1' } }] },
    'messages[0].audio',
  );
  refused(
    responses,
    { input: [{ type: 'message', role: 'user', content: 'x', conversation: 'c' }] },
    'input[0].conversation',
    strict,
  );
  refused(responses, { reasoning: { mode: 'pro', type: 'message' } }, 'reasoning.mode');
  refused(messages, { container: 'c', type: 'tool_use' }, 'container');
  refused(
    messages,
    { system: [{ type: 'text', text: 'x', citations: [{ file_id: 'file_1' }] }] },
    'system[0].citations[0].file_id',
  );
});

test('names of Object.prototype are unknown fields like any other', () => {
  for (const wire of wires) {
    for (const name of ['constructor', 'toString', '__proto__']) {
      const fields = JSON.parse(`{"${name}":{"n":2}}`) as JsonObject;
      refused(wire, fields, name, strict);
      assert.ok(!Object.hasOwn(relay(wire, fields).body, name), name);
    }
  }
});

test('fields that other hosts document are sent to them, not to OpenAI', () => {
  const fields = {
    top_k: 20,
    min_p: 0.1,
    guided_json: { anything: { goes: 1 } },
    enable_thinking: true,
    chat_template_kwargs: { enable_thinking: false },
    reasoning: { effort: 'low' },
    messages: [
      {
        role: 'assistant',
        content: null,
        reasoning_details: [{ type: 'reasoning.text', of: 'any kind' }],
        tool_calls: [
          { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
      { role: 'user', content: [{ type: 'video_url', video_url: { url: 'https://x.example' } }] },
    ],
  };
  const [chat] = wires as [Wire];
  const sent = relay(chat, fields, { isOpenAi: false }).body;
  for (const [name, value] of Object.entries(fields)) assert.deepEqual(sent[name], value, name);
  refused(chat, { top_k: 20 }, 'top_k', strict);
  assert.ok(!('top_k' in relay(chat, { top_k: 20 }).body));
  refused(chat, { messages: [fields.messages[2]] }, 'messages[0].content[0].type');
});

test('every field of the official answer types may be sent back with the next turn', () => {
  const answers = [
    {
      wire: wires[0]!,
      holder: 'messages',
      file: wires[0]!.types[0]!.file,
      type: 'ChatCompletionMessage',
    },
    {
      wire: wires[1]!,
      holder: 'input',
      file: wires[1]!.types[0]!.file,
      type: 'ResponseOutputItem',
    },
    { wire: wires[2]!, holder: 'content', file: wires[2]!.types[0]!.file, type: 'ContentBlock' },
    {
      wire: wires[2]!,
      holder: 'content',
      file: wires[2]!.types[1]!.file,
      type: 'BetaContentBlock',
    },
  ];
  for (const { wire, holder, file, type } of answers) {
    const fields = readSdkFields({ file, type }).map((field) => ({
      ...field,
      steps: field.steps.length > 0 ? field.steps : [{ field: holder, isList: true, type: null }],
    }));
    assert.ok(fields.length > 20, type);
    const table = wire.format === 'chat' ? openAiTable : wire.table;
    const unknown = fields.filter(
      (field) => verdictsOf(table, field).length === 0 && !isCovered(table, field),
    );
    // Audio from an earlier answer is refused by name.
    const names = unknown.map(({ path }) => path).filter((path) => !path.startsWith('audio.'));
    assert.deepEqual(names, [], type);
  }
});

test('fields that hosts and programs are known to add to a conversation pass', () => {
  const [chat, responses, messages] = wires as [Wire, Wire, Wire];
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const assistant = (fields: object) => ({
    messages: [{ role: 'assistant', content: 'x', ...fields }],
  });
  const signature = { provider_specific_fields: { thought_signature: 's' } };
  const pairs: readonly [Wire, JsonObject][] = [
    // Sources: MiniMax, LiteLLM (twice), OpenRouter (twice), Mistral, Databricks
    [chat, assistant({ name: 'MiniMax AI', audio_content: '' })],
    [chat, assistant({ tool_calls: [{ ...call, ...signature }] })],
    [chat, assistant({ tool_calls: [{ ...call, function: { ...call.function, ...signature } }] })],
    [
      chat,
      assistant({
        images: [{ type: 'image_url', index: 0, image_url: { url: 'data:image/png;base64,AA==' } }],
      }),
    ],
    [
      chat,
      assistant({
        annotations: [
          {
            type: 'file',
            file: { hash: 'h', name: 'a.pdf', content: [{ type: 'text', text: 'x' }] },
          },
        ],
      }),
    ],
    [
      chat,
      assistant({
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'x' }], closed: true }],
      }),
    ],
    [
      chat,
      assistant({
        content: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'x', signature: 's' }] },
        ],
      }),
    ],
    // Sources: Codex, Claude Code
    [
      responses,
      {
        input: [
          {
            role: 'user',
            content: 'x',
            internal_chat_message_metadata_passthrough: { turn_id: 't', any: ['y'] },
          },
        ],
      },
    ],
    [
      messages,
      {
        system: [
          { type: 'text', text: 'x', cache_control: { type: 'ephemeral', scope: 'global' } },
        ],
      },
    ],
  ];
  for (const [wire, fields] of pairs) {
    const { body } = relay(wire, fields, { isOpenAi: false });
    for (const [name, value] of Object.entries(fields))
      assert.partialDeepStrictEqual(body[name], value);
  }
});

/**
 * Fields from issue reports and host documentation: each raises the price or the amount, names
 * state, or runs code.
 */
const hostile =
  'n_predict max_output_tokens num_generations extra_body options MAX_TOKENS N custom_logit_processor bootstrap_host chat_template ' +
  'enable_code_interpreter __proto__ ignore_eos min_tokens allowed_token_ids mm_processor_kwargs documents input_ids lora_path session_params rid ' +
  'Max_Tokens Model STREAM messageS maxTokens';

test('no unknown name, in any case, at any depth and with any value, reaches a provider; with the setting it is refused', () => {
  const anyCase = fc
    .tuple(fc.constantFrom('toUpperCase', 'toLowerCase', 'title'), fc.nat())
    .map(([how, at]) => (name: string) => {
      if (how !== 'title') return name[how as 'toUpperCase']();
      const place = at % name.length;
      return name.slice(0, place) + name[place]!.toUpperCase() + name.slice(place + 1);
    });
  const anyName = (wire: Wire) =>
    fc.oneof(
      fc.constantFrom(...hostile.split(' ')),
      fc
        .tuple(fc.constantFrom(...fieldsOf(wire)), anyCase)
        .map(([{ name }, change]) => change(name)),
      fc.string({ minLength: 1, maxLength: 20 }),
    );
  const anyProbeOf = (wire: Wire) =>
    fc.record({
      format: fc.constant(wire.format),
      place: fc.constantFrom(
        ...fieldsOf(wire).filter((field) => !isCovered(wire.table, field) && field.name !== '*'),
      ),
      name: anyName(wire),
      value: fc.jsonValue({ maxDepth: 2 }),
      isOpenAi: fc.boolean(),
    });
  let [reached, sentCount] = [0, 0];
  const mark = 'inside an unknown field';
  fc.assert(
    fc.property(fc.oneof(...wires.map(anyProbeOf)), ({ format, place, name, value, isOpenAi }) => {
      const wire = wires.find((one) => one.format === format)!;
      fc.pre(!isKnown(wire, name));
      // Otherwise a tool that the target lacks is left out with all its fields.
      const forced = format === 'messages' ? { type: 'any' } : 'required';
      const body = { tool_choice: forced, ...bodyWith(wire, { ...place, name }, value) };
      const steps = concretePath({ ...place, name });
      const marked = bodyWith(wire, { ...place, name }, [mark, value]);
      const leftOut = new Set<string>();
      // Unsold, a search is left out with all its fields.
      const to = { isOpenAi, searchesMax: 1 };
      const sent = caught(() => relay(wire, marked, { ...to, unknown: { leftOut } }));
      if (sent instanceof ApiError) assert.doesNotMatch(sent.message, /unknown field/);
      else {
        sentCount++;
        assert.ok(!JSON.stringify(sent).includes(mark), steps);
        assert.equal(leftOut.size, 1, steps);
      }
      for (const write of [
        () => relay(wire, body, { ...strict, ...to }),
        () => translate(wire, body),
      ]) {
        const error = caught(write);
        assert.ok(
          error instanceof ApiError && error.code === 'invalid_request',
          `${steps}: ${String(error)}`,
        );
        if (error.param !== steps.slice(0, 200)) continue;
        reached++;
        assert.match(error.message, /is an unknown field; .* `pass_fields`$/);
      }
    }),
    { numRuns: 3_000 },
  );
  assert.ok(reached > 2_000, `only ${reached} were refused for their name`);
  assert.ok(sentCount > 1_000, `only ${sentCount} were sent`);
});

const recordings = loadRecordings();

test('recorded requests and answers of SDKs and programs contain no unknown field', () => {
  type Answer = {
    choices?: { message: unknown }[];
    output?: unknown;
    content?: unknown;
    candidates?: { content: unknown }[];
  };
  const answered: Readonly<Record<ClientFormatName, (answer: Answer) => JsonObject[]>> = {
    gemini: ({ candidates = [] }) => candidates.map(({ content }) => ({ contents: [content] })),
    chat: ({ choices = [] }) => choices.map(({ message }) => ({ messages: [message] })),
    responses: ({ output = [] }) => [{ input: output }],
    messages: ({ content = [] }) => [{ messages: [{ role: 'assistant', content }] }],
  };
  const unknown = new Set<string>();
  for (const { format, file, request, status, stream, bytes } of recordings) {
    const wire = wires.find((known) => known.format === format);
    if (!wire) continue;
    const bodies =
      stream || status !== 200
        ? []
        : answered[wire.format](JSON.parse(bytes.toString('utf8')) as Answer);
    for (const body of [
      ...bodies,
      ...(request ? [JSON.parse(request.toString('utf8')) as JsonObject] : []),
    ]) {
      const error = caught(() => relay(wire, body, { ...strict, isOpenAi: false }));
      if (error instanceof ApiError && error.message.includes('pass_fields'))
        unknown.add(`${file} ${error.param}`);
    }
  }
  const accepted =
    /together_chat_legacy\S* echo$|openrouter_web_search\S* tools\[0\]\.parameters$|mcp_server_tool\S* tools\[0\]\.headers|xai-image-generation-tool\S* input/;
  assert.deepEqual(
    [...unknown].filter((found) => !accepted.test(found)),
    [],
  );
});

function caught(write: () => unknown): unknown {
  try {
    return write();
  } catch (error) {
    return error;
  }
}

const fieldsByWire = new Map<Wire, readonly SdkField[]>();

function fieldsOf(wire: Wire): readonly SdkField[] {
  const fields = fieldsByWire.get(wire) ?? wire.types.flatMap(readSdkFields);
  fieldsByWire.set(wire, fields);
  return fields;
}

/** Applies in any kind of object. */
function isKnown({ format, table }: Wire, name: string): boolean {
  return Object.values(format === 'chat' ? hostTable : table).some((fields) =>
    Object.hasOwn(fields, name),
  );
}

function translate({ format, body }: Wire, fields: JsonObject): unknown {
  const client = clientFormats[format];
  const request = client.parseRequest({ ...body, ...fields }, { chatMaxTokens: null });
  return client.readRequest(request, strict.unknown);
}

type Rule = Verdict['rule'];

/** Each throws unless the relay treats the field as its verdict says. */
const checks: Readonly<Record<Rule, (wire: Wire, field: SdkField) => void>> = {
  pass: (wire, field) => {
    // The whole block is left out, because no other model may go on.
    if (field.steps.some(({ type }) => type === 'fallback')) return;
    const value = probeOf(wire, field);
    // A thinking model refuses some fields; another test is about them.
    const { body, before } = behindCall(bodyWith(wire, field, value));
    const sent = relay(wire, body, { thinking: isThinkingField(field) }).body;
    assert.deepEqual(readProbe(sent, field, before), value, field.path);
  },
  own: (wire, field) => checks.pass(wire, field),
  set: (wire, field) => {
    const value = field.name === 'type' ? field.steps.at(-1)!.type : 'a-probe';
    assert.notEqual(
      readProbe(relay(wire, bodyWith(wire, field, value)).body, field),
      value,
      field.path,
    );
  },
  drop: (wire, field) => {
    const { body, ignored } = relay(wire, bodyWith(wire, field, { probe: true }));
    assert.ok(!(field.name in body) && ignored.includes(field.path), field.path);
  },
  force: (wire, field) => refused(wire, bodyWith(wire, field, 'a-probe'), concretePath(field)),
  refuse: (wire, field) => {
    const value = field.name === 'type' ? field.steps.at(-1)!.type : { probe: true };
    refused(wire, bodyWith(wire, field, value), concretePath(field));
  },
  /** The field passes unchanged, or the tool's kind is refused, or left out and listed. */
  tool: (wire, field) => {
    const value = probeOf(wire, field);
    const probe = bodyWith(wire, field, value);
    try {
      const { body, ignored } = relay(wire, probe);
      if (ignored.some((path) => /tools\[\d+\]$/.test(path))) return;
      assert.deepEqual(readProbe(body, field), value, field.path);
    } catch (error) {
      assert.ok(error instanceof ApiError, `${field.path}: ${String(error)}`);
      assert.match(error.param ?? '', /\.type$|^web_search_options$|\.configs\.\*$/, field.path);
    }
  },
};

/**
 * The client's own data may contain any name. Function parameters without a type become an object
 * schema with properties.
 */
function probeOf({ body, table }: Wire, field: SdkField): unknown {
  const { steps, name } = field;
  const last = steps.at(-1);
  if (verdictsOf(table, field).some(({ rule }) => rule === 'own'))
    return { type: 'object', properties: {}, file_id: 'the client’s own', file_ids: ['x'] };
  if (!last) return body[name] ?? 'a-probe';
  return name === 'type' ? (last.type ?? 'any') : 'a-probe';
}

function relay(
  { format, body }: Wire,
  fields: JsonObject,
  changes: Partial<UpstreamTarget> = {},
): UpstreamRequest {
  const request = clientRequest({ ...body, ...fields, ...askedBehind(fields) });
  return clientFormats[format].relay.writeRequest(request, { ...target, ...changes });
}

/** Appended to an input's items, because an input whose items are all left out is refused. */
function askedBehind({ input }: JsonObject): JsonObject {
  return Array.isArray(input) ? { input: [...input, { role: 'user', content: 'Hi' }] } : {};
}

function clientRequest(body: JsonObject): ClientRequest {
  return {
    body,
    model: 'm',
    stream: true,
    maxOutputTokens: null,
    choices: 1,
    thinkingBudgetTokens: 0,
  };
}

/** The fields that only a model that thinks is sent. */
function isThinkingField({ path }: SdkField): boolean {
  return /^(?:reasoning|thinking|output_config|include)/.test(path);
}

function refused(
  wire: Wire,
  fields: JsonObject,
  param: string,
  changes: Partial<UpstreamTarget> = {},
): void {
  assert.throws(
    () => relay(wire, fields, changes),
    (error) => {
      assert.ok(error instanceof ApiError, String(error));
      assert.deepEqual([error.code, error.param], ['invalid_request', param]);
      assert.ok(error.message.startsWith(param), error.message);
      return true;
    },
    param,
  );
}

/** The object types for which a field has verdicts. */
function kindsOf({ steps }: SdkField): readonly string[] {
  const last = steps.at(-1);
  return last
    ? [...(last.type === null ? [] : [last.type]), last.field, 'anywhere']
    : ['request', 'anywhere'];
}

function verdictsOf(table: VerdictTable, field: SdkField): Verdict[] {
  return kindsOf(field).flatMap((kind) => {
    const verdicts = Object.hasOwn(table, kind) ? table[kind]! : {};
    return Object.hasOwn(verdicts, field.name) ? [verdicts[field.name]!] : [];
  });
}

/** The strictest verdict wins, then the one of the object's type. */
function ruleOf(table: VerdictTable, field: SdkField): Rule {
  const rules = verdictsOf(table, field).map(({ rule }) => rule);
  const strictest = (['refuse', 'drop'] as const).find((rule) => rules.includes(rule));
  if (strictest) return strictest;
  if (isInTool(table, field)) return 'tool';
  return rules.find((rule) => rule === 'own') ?? rules[0]!;
}

function isInTool(table: VerdictTable, field: SdkField): boolean {
  return holdersOf(field).some((holder) =>
    verdictsOf(table, holder).some(({ rule }) => rule === 'tool'),
  );
}

/** The fields that contain a field, from the body inwards. */
function holdersOf({ steps }: SdkField): SdkField[] {
  return steps.map(({ field }, index) => ({
    steps: steps.slice(0, index),
    name: field,
    path: field,
  }));
}

/**
 * True when it is inside a field that is refused, dropped or not inspected, or inside an object of
 * a refused type.
 */
function isCovered(table: VerdictTable, field: SdkField): boolean {
  const isRefusedKind = field.steps.some(
    ({ type }) => type !== null && table[type]?.type?.rule === 'refuse',
  );
  if (isRefusedKind && field.name !== 'type') return true;
  const rules = holdersOf(field).flatMap((holder) =>
    verdictsOf(table, holder).map(({ rule }) => rule),
  );
  return rules.some((rule) => rule === 'refuse' || rule === 'own' || rule === 'drop');
}

function bodyWith({ needed }: Wire, { steps, name }: SdkField, value: unknown): JsonObject {
  return steps.reduceRight<Record<string, unknown>>(
    (inner, { field, isList, type }) => {
      const own = field === 'tool_choice' || type === null ? {} : needed[type];
      const object = { ...(type === null ? {} : { type }), ...own, ...inner };
      return { [field]: isList ? [object] : object };
    },
    { [name]: value },
  );
}

/**
 * Puts its call before a result, which would else become words of the user. `before`: the number of
 * items that the call takes.
 */
function behindCall(body: JsonObject): { readonly body: JsonObject; readonly before: number } {
  const [item] = (body.input ?? []) as JsonObject[];
  if (typeof item?.type === 'string' && /^(?:function|custom_tool)_call_output$/.test(item.type)) {
    const result = { call_id: 'c', ...item };
    const call = { type: item.type.replace('_output', ''), call_id: result.call_id };
    return { body: { ...body, input: [call, result] }, before: 1 };
  }
  const [message] = (body.messages ?? []) as JsonObject[];
  const [block] = Array.isArray(message?.content) ? (message.content as JsonObject[]) : [];
  if (block?.type !== 'tool_result') return { body, before: 0 };
  const call = { role: 'assistant', content: [{ type: 'tool_use', id: block.tool_use_id }] };
  return { body: { ...body, messages: [call, message] }, before: 1 };
}

function readProbe(body: JsonObject, { steps, name }: SdkField, before = 0): unknown {
  const holder = steps.reduce<unknown>((value, { field, isList }, depth) => {
    const inner = (value as JsonObject | undefined)?.[field];
    return isList ? (inner as readonly unknown[] | undefined)?.[depth === 0 ? before : 0] : inner;
  }, body);
  return (holder as JsonObject | undefined)?.[name];
}

function concretePath({ steps, name }: SdkField): string {
  return [...steps.map(({ field, isList }) => `${field}${isList ? '[0]' : ''}`), name].join('.');
}
