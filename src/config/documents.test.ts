// Keeps the published documents in step with the schema that is enforced.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Schema from 'typebox/schema';
import { parse } from 'yaml';
import { configJsonSchema } from '../../scripts/docs/config-json-schema.ts';
import { loadYaml } from '../../tests/support/config-file.ts';
import { asFieldSchema, branchesOf, type FieldSchema } from './field-schema.ts';
import { knownProviders } from './known-providers.ts';
import { ConfigFile } from './schema.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const guide = readFileSync(join(docs, 'configuration.md'), 'utf8');
const example = /```yaml\n([^`]*)```/u.exec(guide)![1]!;

test('every value of the configuration has a description', () => {
  const bare = valuesOf(asFieldSchema(ConfigFile), '').filter(({ schema }) => !schema.description);
  assert.deepEqual(bare, []);
});

test('what a text or a name must look like is told in words', () => {
  const wordless = schemasIn(asFieldSchema(ConfigFile)).filter(
    ({ pattern, shape, patternProperties, names }) =>
      (pattern !== undefined && shape === undefined) ||
      (patternProperties !== undefined && names === undefined),
  );
  assert.deepEqual(wordless, []);
});

function schemasIn(schema: FieldSchema): FieldSchema[] {
  const inner = [
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
    ...Object.values(schema.properties ?? {}),
    ...Object.values(schema.patternProperties ?? {}),
  ];
  return [schema, ...inner.flatMap(schemasIn)];
}

test('the guide lists every known provider with its kind, address and variable', () => {
  for (const [name, { kind, baseUrl, keyVariable, addressVariable }] of Object.entries(
    knownProviders,
  )) {
    const variable = keyVariable ?? addressVariable;
    const address =
      typeof baseUrl === 'function'
        ? 'of the region'
        : baseUrl === null
          ? 'your own'
          : `\`${baseUrl}\``;
    const row = `| \`${name}\` | \`${kind}\` | ${address} | ${variable === undefined ? 'none' : `\`${variable}\``}`;
    assert(guide.includes(row), row);
  }
});

test('the guide lists every environment variable that the configuration reads', () => {
  const read = new Set([...namesInSource(), ...namesReadWith(everyTelemetry)]);
  assert(read.has('SMTP_URL') && read.has('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'));
  const missing = [...read].filter((name) => !guide.includes(`\`${name}\``));
  assert.deepEqual(missing.toSorted(), []);
});

test('the guide’s example is valid for the loader and the published schema', () => {
  const config = loadYaml(example, { OPENAI_API_KEY: 'k' });
  assert.equal(config.providers['openai']!.enabled, true);
  assert.equal(config.providers['anthropic']!.enabled, false);
  assert.deepEqual(config.warnings, []);
  assert(accepts(parse(example)));
});

test('the published schema accepts and refuses the same files as the loader', () => {
  assert(accepts({}));
  assert(accepts({ server: { port: '${PORT}' }, limits: { chat_max_tokens: null } }));
  assert(accepts({ models: { m: { prices: [{ input: 1, output: 2 }] } } }));
  assert(!accepts({ server: { prot: 1 } }));
  assert(!accepts({ server: { port: 'x' } }));
  assert(!accepts({ models: { m: { prices: { input: 1 } } } }));
});

/** Returns every quoted word of this folder's source that looks like a variable. */
function namesInSource(): string[] {
  const files = globSync('*.ts', { cwd: import.meta.dirname, exclude: ['*.test.ts'] });
  return files.flatMap((file) =>
    [...readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(variable)].flatMap(
      ([, inBrackets, quoted]) => inBrackets ?? quoted ?? [],
    ),
  );
}

const variable = /env\['([A-Z]+)'\]|'([A-Z][A-Z0-9]*_[A-Z0-9_]+)'/gu;

/** The names of most of OpenTelemetry's variables are made of parts. */
const everyTelemetry = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' };

function namesReadWith(env: Readonly<Record<string, string>>): ReadonlySet<string> {
  const names = new Set<string>();
  const recorded = new Proxy<Readonly<Record<string, string>>>(env, {
    get: (values, name: string) => {
      names.add(name);
      return values[name];
    },
  });
  loadYaml(null, recorded);
  return names;
}

function accepts(value: unknown): boolean {
  return Schema.Check(configJsonSchema(), value);
}

/**
 * Every field that is not a section. A union of sections is searched; a union of values is one
 * value.
 */
function valuesOf(schema: FieldSchema, path: string): { path: string; schema: FieldSchema }[] {
  const inner = branchesOf(schema).flatMap((branch) => [
    ...Object.entries({ ...branch.properties, ...branch.patternProperties }),
    ...(branch.items?.properties ? [['[]', branch.items] as const] : []),
  ]);
  return inner.length === 0
    ? [{ path, schema }]
    : inner.flatMap(([name, child]) => valuesOf(child, `${path}.${name}`));
}
