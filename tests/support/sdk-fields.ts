// Every field of an official SDK's request type, at any depth, read from the installed
// declarations. Each field has its path from the body, so that a test can build a body with it.
import { createGenerator, type Schema } from 'ts-json-schema-generator';
import { join } from 'node:path';
import { cacheTypes, modules } from './cached-types.ts';

/** An object on the path: its field, whether it is a list element, and its `type`, if any. */
type Step = { readonly field: string; readonly isList: boolean; readonly type: string | null };

export type SdkField = {
  /** Empty for a field of the body. */
  readonly steps: readonly Step[];
  readonly name: string;
  /** For test messages: `input[].(message).content[].(input_image).file_id`. */
  readonly path: string;
};

/**
 * `file`: relative to node_modules. Objects of the same type in fields of the same name are visited
 * once.
 */
type SdkType = { readonly file: string; readonly type: string };

export function readSdkFields({ file, type }: SdkType): SdkField[] {
  const walk = new Walk(cacheTypes(`${file}-${type}`, () => definitionsOf({ file, type })));
  walk.visit({ $ref: `#/definitions/${type}` }, { steps: [], isList: false });
  return walk.fields;
}

function definitionsOf({ file, type }: SdkType): Readonly<Record<string, Schema>> {
  const path = join(modules, file);
  const generator = createGenerator({
    path,
    type,
    skipTypeCheck: true,
    jsDoc: 'none',
    additionalProperties: true,
  });
  return generator.createSchema(type).definitions as Readonly<Record<string, Schema>>;
}

type Place = { readonly steps: readonly Step[]; readonly isList: boolean };

class Walk {
  readonly fields: SdkField[] = [];
  readonly #definitions: Readonly<Record<string, Schema>>;
  readonly #visited = new Set<string>();

  constructor(definitions: Readonly<Record<string, Schema>>) {
    this.#definitions = definitions;
  }

  visit(schema: Schema, place: Place): void {
    if (schema.$ref !== undefined) {
      const seen = `${place.steps.at(-1)?.field ?? ''} ${schema.$ref}`;
      if (this.#visited.has(seen)) return;
      this.#visited.add(seen);
      return this.visit(this.#resolve(schema), place);
    }
    for (const member of [
      ...(schema.anyOf ?? []),
      ...(schema.oneOf ?? []),
      ...(schema.allOf ?? []),
    ])
      this.#visitAny(member, place);
    for (const element of [schema.items ?? []].flat())
      this.#visitAny(element, { ...place, isList: true });
    this.#visitAny(schema.additionalProperties, this.#entryOf(place));
    if (schema.properties)
      for (const type of this.#typesOf(schema)) this.#visitFields(schema, place, type);
  }

  #visitAny(schema: unknown, place: Place): void {
    if (typeof schema === 'object' && schema !== null) this.visit(schema, place);
  }

  #visitFields(schema: Schema, { steps, isList }: Place, type: string | null): void {
    const last = steps.at(-1);
    const way = last ? [...steps.slice(0, -1), { ...last, isList, type }] : [];
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      this.fields.push({ steps: way, name, path: [...way.map(writeStep), name].join('.') });
      this.#visitAny(field, {
        steps: [...way, { field: name, isList: false, type: null }],
        isList: false,
      });
    }
  }

  /** A record's values stand under any name. */
  #entryOf({ steps }: Place): Place {
    return { steps: [...steps, { field: '*', isList: false, type: null }], isList: false };
  }

  #typesOf(schema: Schema): readonly (string | null)[] {
    const declared = schema.properties?.['type'];
    const type = typeof declared === 'object' ? this.#resolve(declared) : null;
    if (typeof type?.const === 'string') return [type.const];
    return type?.enum?.filter((value) => typeof value === 'string') ?? [null];
  }

  #resolve(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema;
    return this.#resolve(
      this.#definitions[decodeURIComponent(schema.$ref.slice('#/definitions/'.length))]!,
    );
  }
}

function writeStep({ field, isList, type }: Step): string {
  return `${field}${isList ? '[]' : ''}${type === null ? '' : `.(${type})`}`;
}
