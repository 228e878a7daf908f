// Generates the table of all fields in docs/configuration.md from the schema.
import { asFieldSchema, branchesOf, type FieldSchema } from '../../src/config/field-schema.ts';
import { ConfigFile } from '../../src/config/schema.ts';

/** Returns the table in Markdown. */
export function fieldTable(): string {
  const rows = fieldsOf(asFieldSchema(ConfigFile), '').map(
    ({ path, schema }) =>
      `| \`${path}\` | ${kindOf(schema)} | ${defaultOf(schema)} | ${schema.description} |`,
  );
  return ['| Field | Value | Default | Meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

type Field = { readonly path: string; readonly schema: FieldSchema };

/** Every documented field: values, and sections that have a description. */
function fieldsOf(schema: FieldSchema, path: string): Field[] {
  const inner = branchesOf(schema).flatMap((branch) => [
    ...Object.entries(branch.properties ?? {}).flatMap(([name, child]) =>
      fieldsOf(child, path === '' ? name : `${path}.${name}`),
    ),
    ...Object.values(branch.patternProperties ?? {}).flatMap((child) =>
      fieldsOf(child, `${path}.<name>`),
    ),
    ...(branch.items && schema.type === 'array' ? fieldsOf(branch.items, `${path}[]`) : []),
  ]);
  return schema.description === undefined ? inner : [{ path, schema }, ...inner];
}

function kindOf(schema: FieldSchema): string {
  if (schema.anyOf) return schema.anyOf.map(kindOf).join(' or ');
  if (schema.enum) return schema.enum.map((word) => `\`${String(word)}\``).join(', ');
  switch (schema.type) {
    case 'integer':
      return `whole number${rangeOf(schema)}`;
    case 'number':
      return `number${rangeOf(schema)}`;
    case 'boolean':
      return '`true`, `false`';
    case 'null':
      return '`null`';
    case 'array':
      return 'list';
    case 'object':
      return 'fields';
    default:
      return schema.shape ?? 'text';
  }
}

function rangeOf({ minimum, maximum }: FieldSchema): string {
  if (maximum === undefined) return minimum === undefined ? '' : `, at least ${minimum}`;
  return `, ${minimum ?? 0} to ${maximum}`;
}

function defaultOf({ default: byDefault }: FieldSchema): string {
  if (byDefault === undefined) return '';
  return typeof byDefault === 'object' && byDefault !== null
    ? 'none'
    : `\`${JSON.stringify(byDefault)}\``;
}
