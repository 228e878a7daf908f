// The tables of verdicts (src/formats/<wire>/field-verdicts.ts) against the official SDKs' types and against what the straight path does:
// every field of a request, at any depth, has a verdict, and the verdict is what happens to it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/canonical/errors.ts';
import type { ClientFormatName } from '../src/canonical/format-name.ts';
import { verdictTable as chatTable } from '../src/formats/chat/field-verdicts.ts';
import type { Verdict, VerdictTable } from '../src/formats/field-verdicts.ts';
import type { JsonObject, UpstreamRequest, UpstreamTarget } from '../src/formats/format.ts';
import { verdictTable as messagesTable } from '../src/formats/messages/field-verdicts.ts';
import { clientFormats } from '../src/formats/registry.ts';
import { verdictTable as responsesTable } from '../src/formats/responses/field-verdicts.ts';
import { readSdkFields, type SdkField } from './support/sdk-fields.ts';

type Wire = {
  readonly format: ClientFormatName;
  readonly table: VerdictTable;
  readonly types: readonly { readonly file: string; readonly type: string }[];
  /** Fields of the body that only older versions of the types know. */
  readonly older?: readonly string[];
  /** The body that a probe is added to. */
  readonly body: JsonObject;
  /** What an object of a type must have beside the probe, so that the relay does not leave it out for another reason. */
  readonly needed: Readonly<Record<string, JsonObject>>;
};

const anthropic = '@anthropic-ai/sdk/resources';
const wires: readonly Wire[] = [
  {
    format: 'chat',
    table: chatTable,
    types: [{ file: 'openai/resources/chat/completions/completions.d.ts', type: 'ChatCompletionCreateParamsBase' }],
    body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
    needed: {},
  },
  {
    format: 'responses',
    table: responsesTable,
    types: [{ file: 'openai/resources/responses/responses.d.ts', type: 'ResponseCreateParamsBase' }],
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
    older: ['temperature', 'top_p', 'top_k'],
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
  maxTokensField: 'max_completion_tokens',
};

for (const wire of wires) {
  const fields = wire.types.flatMap(readSdkFields);

  test(`${wire.format}: every field that the official types know, at any depth, has a verdict`, () => {
    assert.ok(fields.length > 150, `only ${fields.length} fields are read`);
    const unknown = fields.filter((field) => verdictsOf(wire.table, field).length === 0 && !isCovered(wire.table, field));
    assert.deepEqual(
      unknown.map(({ path }) => path),
      [],
      `decide in src/formats/${wire.format}/field-verdicts.ts`,
    );
  });

  test(`${wire.format}: no verdict is left over from older types, but for refusals, which may be meant for other hosts`, () => {
    const known = new Set(fields.flatMap((field) => kindsOf(field).map((kind) => `${kind}.${field.name}`)));
    const leftOver = Object.entries(wire.table).flatMap(([kind, verdicts]) =>
      Object.entries(verdicts)
        .filter(([name, { rule }]) => rule !== 'refuse' && !known.has(`${kind}.${name}`) && !wire.older?.includes(name))
        .map(([name]) => `${kind}.${name}`),
    );
    assert.deepEqual(leftOver, []);
  });

  test(`${wire.format}: the straight path does with every field what its verdict says`, async (t) => {
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

test('what only other hosts of Chat know is refused by its name', () => {
  const typed = new Set(readSdkFields(wires[0]!.types[0]!).map(({ name }) => name));
  const others = Object.entries(chatTable.request).filter(([name, { rule }]) => rule === 'refuse' && !typed.has(name));
  assert.ok(others.length > 10);
  for (const [name] of others) refused(wires[0]!, { [name]: { probe: true } }, name);
});

test('a made-up type hides nothing: a field is refused for the place that it stands in, too', () => {
  const [chat, responses, messages] = wires as [Wire, Wire, Wire];
  refused(chat, { messages: [{ role: 'assistant', type: 'text', audio: { id: 'audio_1' } }] }, 'messages[0].audio');
  refused(responses, { type: 'function_call', background: true }, 'background');
  refused(responses, { reasoning: { type: 'message', mode: 'pro' } }, 'reasoning.mode');
  refused(messages, { type: 'tool_use', container: 'c' }, 'container');
  refused(messages, { system: [{ type: 'unheard of', deep: [{ file_id: 'file_1' }] }] }, 'system[0].deep[0].file_id');
});

test('names that every object has are no verdicts', () => {
  const odd = { constructor: 'x', toString: { hasOwnProperty: 'y' } };
  for (const wire of wires) assert.deepEqual(relay(wire, { new_field: odd }).body.new_field, odd);
});

type Rule = Verdict['rule'];

/** Each throws unless the relay does with the field what its rule says. */
const checks: Readonly<Record<Rule, (wire: Wire, field: SdkField) => void>> = {
  pass: (wire, field) => {
    const value = probeOf(wire, field);
    assert.deepEqual(readProbe(relay(wire, bodyWith(wire, field, value)).body, field), value, field.path);
  },
  own: (wire, field) => checks.pass(wire, field),
  set: (wire, field) => {
    assert.notEqual(readProbe(relay(wire, bodyWith(wire, field, 'a-probe')).body, field), 'a-probe', field.path);
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
  /** Passes as it came, or the tool is refused by its kind: never anything between. */
  tool: (wire, field) => {
    const value = probeOf(wire, field);
    const probe = bodyWith(wire, field, value);
    try {
      assert.deepEqual(readProbe(relay(wire, probe).body, field), value, field.path);
    } catch (error) {
      assert.ok(error instanceof ApiError, `${field.path}: ${String(error)}`);
      assert.match(error.param ?? '', /\.type$|^web_search_options$/, field.path);
    }
  },
};

/** In the client's own data any name may stand. */
function probeOf({ body, table }: Wire, field: SdkField): unknown {
  const { steps, name } = field;
  const last = steps.at(-1);
  if (verdictsOf(table, field).some(({ rule }) => rule === 'own')) return { file_id: 'the client’s own', file_ids: ['x'] };
  if (!last) return body[name] ?? 'a-probe';
  return name === 'type' ? (last.type ?? 'any') : 'a-probe';
}

function relay({ format, body }: Wire, fields: JsonObject): UpstreamRequest {
  const request = { ...body, ...fields };
  return clientFormats[format].relay.writeRequest(
    { body: request, model: 'm', stream: true, maxOutputTokens: null, choices: 1, thinkingBudgetTokens: 0 },
    target,
  );
}

function refused(wire: Wire, fields: JsonObject, param: string): void {
  assert.throws(
    () => relay(wire, fields),
    (error) => {
      assert.ok(error instanceof ApiError, String(error));
      assert.deepEqual([error.code, error.param], ['invalid_request', param]);
      assert.ok(error.message.startsWith(param), error.message);
      return true;
    },
    param,
  );
}

/** The kinds that a field has verdicts under. */
function kindsOf({ steps }: SdkField): readonly string[] {
  const last = steps.at(-1);
  return last ? [...(last.type === null ? [] : [last.type]), last.field, 'anywhere'] : ['request', 'anywhere'];
}

function verdictsOf(table: VerdictTable, field: SdkField): Verdict[] {
  return kindsOf(field).flatMap((kind) => {
    const verdicts = Object.hasOwn(table, kind) ? table[kind]! : {};
    return Object.hasOwn(verdicts, field.name) ? [verdicts[field.name]!] : [];
  });
}

/** The strictest counts, then that of the object's type. */
function ruleOf(table: VerdictTable, field: SdkField): Rule {
  const rules = verdictsOf(table, field).map(({ rule }) => rule);
  const strictest = (['refuse', 'drop'] as const).find((rule) => rules.includes(rule));
  if (strictest) return strictest;
  if (isInTool(table, field)) return 'tool';
  return rules.find((rule) => rule === 'own') ?? rules[0]!;
}

function isInTool(table: VerdictTable, field: SdkField): boolean {
  return holdersOf(field).some((holder) => verdictsOf(table, holder).some(({ rule }) => rule === 'tool'));
}

/** The fields that a field stands in, from the body inwards. */
function holdersOf({ steps }: SdkField): SdkField[] {
  return steps.map(({ field }, index) => ({ steps: steps.slice(0, index), name: field, path: field }));
}

/** Whether it stands in a field that is refused, dropped or never looked into; or in an object whose type is refused. */
function isCovered(table: VerdictTable, field: SdkField): boolean {
  const isRefusedKind = field.steps.some(({ type }) => type !== null && table[type]?.type?.rule === 'refuse');
  if (isRefusedKind && field.name !== 'type') return true;
  const rules = holdersOf(field).flatMap((holder) => verdictsOf(table, holder).map(({ rule }) => rule));
  return rules.some((rule) => rule === 'refuse' || rule === 'own' || rule === 'drop');
}

function bodyWith({ needed }: Wire, { steps, name }: SdkField, value: unknown): JsonObject {
  return steps.reduceRight<Record<string, unknown>>(
    (inner, { field, isList, type }) => {
      const object = { ...(type === null ? {} : { type, ...needed[type] }), ...inner };
      return { [field]: isList ? [object] : object };
    },
    { [name]: value },
  );
}

function readProbe(body: JsonObject, { steps, name }: SdkField): unknown {
  const holder = steps.reduce<unknown>((value, { field, isList }) => {
    const inner = (value as JsonObject | undefined)?.[field];
    return isList ? (inner as readonly unknown[] | undefined)?.[0] : inner;
  }, body);
  return (holder as JsonObject | undefined)?.[name];
}

function concretePath({ steps, name }: SdkField): string {
  return [...steps.map(({ field, isList }) => `${field}${isList ? '[0]' : ''}`), name].join('.');
}
