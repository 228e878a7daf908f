// The JSON Schema of the file for editors, published as docs/config.schema.json. It describes what
// may be written, which is more than the final values: fields with a default may be missing, and
// `${VARIABLE}` may replace a number.
import { asFieldSchema, branchesOf, type FieldSchema } from '../../src/config/field-schema.ts';
import { ConfigFile } from '../../src/config/schema.ts';

const reference = { type: 'string', pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$' } as const;

export function configJsonSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tollgate configuration',
    description: 'tollgate.yaml; docs/configuration.md explains every field.',
    ...publish(asFieldSchema(ConfigFile)),
  };
}

function publish(described: FieldSchema): FieldSchema {
  const schema = withoutWords(described);
  if (schema.type === 'object') return publishObject(schema);
  if (schema.type === 'array') return { ...schema, items: publish(schema.items!) };
  const takesText = branchesOf(schema).some((branch) => branch.type === 'string');
  const isScalar = branchesOf(schema).every(
    (branch) => branch.type !== 'object' && branch.type !== 'array',
  );
  if (!isScalar) return { ...schema, anyOf: schema.anyOf!.map(publish) };
  return takesText ? schema : withReference(schema);
}

/** Leaves out our own keywords. */
function withoutWords(schema: FieldSchema): FieldSchema {
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => keyword !== 'shape' && keyword !== 'names'),
  );
}

function publishObject(schema: FieldSchema): FieldSchema {
  const { properties, patternProperties, required = [], ...rest } = schema;
  const needed = required.filter((name) => properties?.[name]?.default === undefined);
  return {
    ...rest,
    ...(needed.length > 0 && { required: needed }),
    ...(properties && { properties: publishEach(properties) }),
    ...(patternProperties && { patternProperties: publishEach(patternProperties) }),
  };
}

function publishEach(schemas: Readonly<Record<string, FieldSchema>>): Record<string, FieldSchema> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, publish(schema)]),
  );
}

function withReference(schema: FieldSchema): FieldSchema {
  const { description, default: byDefault, anyOf, ...value } = schema;
  return {
    ...(description !== undefined && { description }),
    ...(byDefault !== undefined && { default: byDefault }),
    anyOf: [...(anyOf ?? [value]), reference],
  };
}
