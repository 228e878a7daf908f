// The API's descriptions are valid OpenAPI, and break no client unasked.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { errorKinds } from '../src/canonical/errors.ts';
import { loadConfig } from '../src/config/load.ts';
import { isObject, type JsonObject } from '../src/lib/json.ts';
import { declaredChanges, findBreakingChanges } from '../scripts/docs/breaking-changes.ts';
import fieldDescriptions from '../src/reference/field-descriptions.json' with { type: 'json' };
import { dashboardDocument, publicDocument } from '../src/reference/reference.ts';
import type { Json } from './support/plain/reading.ts';

const execFileAsync = promisify(execFile);
const root = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(root, 'docs', name), 'utf8');

const linter = join(root, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');
/** The linter would ask for its newest version and report its use. */
const offline = { REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' };

const settings = loadConfig({ env: {}, cwd: import.meta.dirname });
const current = publicDocument(settings) as Json;
const documents = [current, dashboardDocument(settings)];
const published = JSON.parse(read('openapi.json')) as Json;

for (const [name, document] of Object.entries({
  API: current,
  dashboard: dashboardDocument(settings),
})) {
  test(`the linter finds nothing in the document of the ${name}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-openapi-'));
    try {
      const file = join(folder, 'openapi.json');
      writeFileSync(file, JSON.stringify(document));
      const { stdout } = await execFileAsync(
        process.execPath,
        [linter, 'lint', '--format=json', `--config=${join(root, 'redocly.yaml')}`, file],
        { env: { ...process.env, ...offline } },
      );
      const { totals, problems } = JSON.parse(stdout) as Json;
      assert.deepEqual(problems, []);
      assert.deepEqual(totals, { errors: 0, warnings: 0, ignored: 0 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test('no change since docs/openapi.json breaks clients, except declared ones', () => {
  const declared = declaredChanges(read('breaking-changes.md'));
  const changes = findBreakingChanges(published, current);
  assert.deepEqual(
    changes.filter((change) => !declared.has(change)),
    [],
  );
});

test('every error code is in the document, with its status and remedy', () => {
  assert.deepEqual(
    current['x-errors'],
    Object.entries(errorKinds).map(([code, kind]) => ({ code, ...kind })),
  );
  const described = JSON.stringify(current['components'].responses);
  const dashboardOnly =
    'not_signed_in sign_in_failed confirmation_required not_permitted conflict'.split(' ');
  for (const [code, { remedy }] of Object.entries(errorKinds)) {
    // Errors of every path: `info.description` names them.
    if (current['info'].description.includes(`\`${code}\``)) continue;
    if (dashboardOnly.includes(code)) continue;
    assert.ok(described.includes(JSON.stringify(remedy).slice(1, -1)), code);
  }
});

test('every field and parameter of both documents is described, however deep', () => {
  const undescribed: string[] = [];
  const described = new Set<string>();
  let fields = 0;
  const note = (path: string, { description }: Json) => {
    fields++;
    if (typeof description === 'string' && description.length > 3) described.add(description);
    else undescribed.push(path);
  };
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const one of value) walk(one, path);
    if (!isObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      const here = `${path}/${name}`;
      if (name === 'example' || name === 'x-errors') continue;
      if (name === 'properties')
        for (const [field, schema] of Object.entries(inner as Json))
          note(`${here}/${field}`, schema);
      if (name === 'parameters' && Array.isArray(inner))
        for (const parameter of inner as Json[]) note(`${here}/${parameter['name']}`, parameter);
      walk(inner, here);
    }
  };
  for (const document of documents) walk(document, '');
  assert.deepEqual(undescribed, []);
  assert.ok(fields > 4_000, `only ${fields} fields`);
  assert.deepEqual(
    Object.values(fieldDescriptions).filter((description) => !described.has(description)),
    [],
    'no field has these descriptions',
  );
});

test('a field of a request is required where a request without it is refused', () => {
  const { ResponsesRequest, ChatRequest } = current['components'].schemas;
  assert.deepEqual(ResponsesRequest.required, ['model', 'input']);
  assert.ok(!JSON.stringify(ResponsesRequest.properties.input).includes('"null"'));
  assert.match(ChatRequest.properties.max_tokens.description, /at most 2,048/);
});

test('a name that means two things has two descriptions', () => {
  const { ResponsesRequest, AdminModel } = current['components'].schemas;
  const { input, tool_choice: choice } = ResponsesRequest.properties;
  assert.match(input.description, /whole conversation/);
  assert.match(JSON.stringify(choice), /`auto`: the model may call one of these tools/);
  assert.match(AdminModel.anyOf[1].properties.mode.description, /draws from text/);
});

/** A copy of the document that a change was made to. */
function changed(change: (document: Json) => void): JsonObject {
  const copy = structuredClone(current);
  change(copy);
  return copy;
}

const usage = (document: Json) => document['paths']['/v1/usage'].get;
const schema = (document: Json, name: string) => document['components'].schemas[name];

type Change = (document: Json) => void;
const breaking: Readonly<Record<string, [change: Change, found: RegExp]>> = {
  'an operation is removed': [
    (api) => delete api['paths']['/v1/usage'],
    /^GET \/v1\/usage: the operation is gone$/,
  ],
  'a field of an answer is removed': [
    (api) => delete schema(api, 'UsageRecord').properties.cost_cents,
    /cost_cents is gone/,
  ],
  'a field of an answer becomes optional': [
    (api) => schema(api, 'UsageRecord').required.pop(),
    /may be left out/,
  ],
  'a field of an answer may become null': [
    (api) =>
      (schema(api, 'Balance').properties.balance_cents = {
        anyOf: [{ type: 'integer' }, { type: 'null' }],
      }),
    /balance_cents may be null/,
  ],
  'a field of an answer changes its type': [
    (api) => (schema(api, 'Balance').properties.balance_cents.type = 'string'),
    /was integer, and is string/,
  ],
  'a field of a request becomes required': [
    (api) => schema(api, 'SearchRequest').required.push('num'),
    /num is required/,
  ],
  'a value of a request is removed': [
    (api) => schema(api, 'ChatRequest').properties.verbosity.anyOf[0].enum.pop(),
    /may not be "high" any more/,
  ],
  'a limit of a request falls': [
    (api) => (schema(api, 'SearchRequest').properties.query.maxLength = 10),
    /maxLength fell to 10/,
  ],
  'a kind of message is removed': [
    (api) => schema(api, 'ChatMessage').anyOf.shift(),
    /may not be role "system" any more/,
  ],
  'a parameter is removed': [
    (api) => usage(api).parameters.pop(),
    /the query parameter key is gone/,
  ],
  'a parameter becomes required': [
    (api) => (usage(api).parameters[0].required = true),
    /the query parameter limit is required/,
  ],
  'a way to authenticate is removed': [
    (api) => usage(api).security.pop(),
    /the authentication .*header.* is gone/,
  ],
  'a header is removed': [
    (api) =>
      delete api['paths']['/v1/responses'].post.responses['200'].headers['x-service-cost-micros'],
    /x-service-cost-micros is gone/,
  ],
  'a field of a stream’s event is removed': [
    (api) => delete schema(api, 'ChatChunk').properties.choices,
    /event-stream.*choices is gone/,
  ],
};

for (const [what, [change, found]] of Object.entries(breaking)) {
  test(`it is found that ${what}`, () => {
    const changes = findBreakingChanges(current, changed(change));
    assert.ok(changes.length > 0, 'nothing was found');
    assert.match(changes[0]!, found);
  });
}

const harmless: Readonly<Record<string, Change>> = {
  'a new operation': (api) => (api['paths']['/v1/new'] = api['paths']['/v1/usage']),
  'a new field of an answer': (api) =>
    (schema(api, 'Balance').properties.held_cents = { type: 'integer' }),
  'a new optional field of a request': (api) =>
    (schema(api, 'SearchRequest').properties.language = { type: 'string' }),
  'a new value of a request': (api) =>
    schema(api, 'ChatRequest').properties.verbosity.anyOf[0].enum.push('huge'),
  'a new kind of event': (api) =>
    schema(api, 'ResponseStreamEvent').anyOf.push({
      type: 'object',
      properties: { type: { const: 'new' } },
    }),
  'a new header': (api) => (usage(api).responses['200'].headers['x-new'] = {}),
  'other words': (api) => (usage(api).summary = 'Other words'),
};

for (const [what, change] of Object.entries(harmless)) {
  test(`${what} breaks no client`, () => {
    assert.deepEqual(findBreakingChanges(current, changed(change)), []);
  });
}
