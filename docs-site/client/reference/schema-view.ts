// Shows a schema as a list of fields. Deeper fields are made when the reader opens them, because
// schemas may contain themselves.
import { closed, element, prose } from '../dom.ts';
import { nameOf, resolve, type ApiDocument, type Schema } from './document.ts';

/** Returns the fields of an object, the variants of a union, or the type of a plain value. */
export function renderSchema(api: ApiDocument, schema: Schema): Node {
  const { variants } = read(api, schema);
  const fields = variants.length === 1 ? fieldsOf(api, variants[0]!) : null;
  if (fields) return renderFields(api, fields);
  if (variants.length === 1) return element('p', {}, typeOf(api, schema));
  const items = variants.map((variant) => {
    const title = [element('code', {}, typeOf(api, variant)), ...noteOn(api, variant)];
    return element('li', {}, hasFields(api, variant) ? opened(api, variant, title) : inline(title));
  });
  return element(
    'div',
    {},
    element('p', {}, 'One of:'),
    element('ul', { class: 'fields' }, ...items),
  );
}

type Fields = {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
};

function renderFields(api: ApiDocument, { properties, required }: Fields): Node {
  const items = Object.entries(properties).map(([name, schema]) => {
    const title = [
      element('code', {}, name),
      ' ',
      element('span', { class: 'type' }, typeOf(api, schema)),
      ...(required.includes(name) ? [' ', element('strong', {}, 'required')] : []),
      ...noteOn(api, schema),
    ];
    return element('li', {}, hasFields(api, schema) ? opened(api, schema, title) : inline(title));
  });
  return element('ul', { class: 'fields' }, ...items);
}

function inline(title: readonly (Node | string)[]): Node {
  return element('div', {}, ...title);
}

function opened(api: ApiDocument, schema: Schema, title: readonly (Node | string)[]): Node {
  return closed(title, () => renderSchema(api, innerOf(api, schema)));
}

/** The items of a list, or the schema itself. */
function innerOf(api: ApiDocument, schema: Schema): Schema {
  const { variants } = read(api, schema);
  const only = variants.length === 1 ? variants[0]! : schema;
  return only.items ? innerOf(api, only.items) : only;
}

/** Resolves references and joins nested unions. `null` is left to the type's name. */
function read(api: ApiDocument, schema: Schema): { readonly variants: readonly Schema[] } {
  const own = resolve(api, schema);
  const union = own.anyOf ?? own.oneOf;
  if (!union) return { variants: [own.allOf ? merge(api, own) : own] };
  const variants = union
    .filter((variant) => variant.type !== 'null')
    .flatMap((variant) => (variant.$ref ? [variant] : read(api, variant).variants));
  return { variants };
}

function merge(api: ApiDocument, { allOf = [], ...rest }: Schema): Schema {
  const parts = [rest, ...allOf.map((part) => resolve(api, part))];
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties ?? {})),
    required: parts.flatMap(({ required = [] }) => required),
  } as Schema;
}

function fieldsOf(api: ApiDocument, schema: Schema): Fields | null {
  const own = resolve(api, schema);
  const { properties, required = [] } = own.allOf ? merge(api, own) : own;
  return properties && Object.keys(properties).length > 0 ? { properties, required } : null;
}

function hasFields(api: ApiDocument, schema: Schema): boolean {
  const inner = innerOf(api, schema);
  const { variants } = read(api, inner);
  return variants.some((variant) => {
    const deepest = innerOf(api, variant);
    return fieldsOf(api, deepest) !== null || deepest.anyOf !== undefined;
  });
}

const typesMax = 4;

/** Example: `string or array of ChatMessage`. */
function typeOf(api: ApiDocument, schema: Schema): string {
  const name = nameOf(schema);
  if (name) return name;
  const { variants } = read(api, schema);
  if (variants.length > 1) {
    const names = [...new Set(variants.map((variant) => typeOf(api, variant)))];
    if (names.length <= typesMax) return names.join(' or ');
    return `${names.slice(0, typesMax).join(', ')} …`;
  }
  const [only] = variants;
  if (!only) return 'null';
  if (only.const !== undefined) return JSON.stringify(only.const);
  if (only.enum) return only.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (only.title) return only.title;
  if (only.items) return `array of ${typeOf(api, only.items)}`;
  const kind = kindOf(only);
  if (kind !== null) return `object "${kind}"`;
  return typeof only.type === 'string' ? only.type : (only.type?.join(' or ') ?? 'any');
}

/** The field that tells a variant from the others. */
function kindOf({ properties = {} }: Schema): string | null {
  for (const name of ['type', 'role']) {
    const kind = properties[name]?.const ?? properties[name]?.enum?.join('" or "');
    if (typeof kind === 'string') return kind;
  }
  return null;
}

/** Limits, default and description. */
function noteOn(api: ApiDocument, schema: Schema): (Node | string)[] {
  const { variants } = read(api, schema);
  const only = variants.length === 1 ? variants[0] : undefined;
  const { minimum, maximum, minItems, maxItems, maxLength } = only ?? {};
  const facts = [
    rangeOf(minimum, maximum),
    rangeOf(minItems, maxItems, ' items'),
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
  ].filter((fact) => fact !== '');
  const description = schema.description ?? resolve(api, schema).description ?? only?.description;
  const text = [facts.join(', '), description ?? ''].filter((part) => part !== '').join('. ');
  return text === '' ? [] : [element('span', { class: 'note' }, ...prose(text))];
}

function rangeOf(least?: number, most?: number, unit = ''): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? '' : `at most ${most}${unit}`;
}
