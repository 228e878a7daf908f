// Parts of TypeBox schemas that several rooms write.
import {
  Type,
  type TNumberOptions,
  type TObjectOptions,
  type TOptional,
  type TProperties,
  type TSchema,
} from 'typebox';

/** An object without other fields. */
export function closed<Fields extends TProperties>(fields: Fields, options: TObjectOptions = {}) {
  return Type.Object(fields, { additionalProperties: false, ...options });
}

/** Fields that may be left out. */
export function optional<Fields extends TProperties>(fields: Fields) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)]),
  ) as { [Name in keyof Fields]: TOptional<Fields[Name]> };
}

export function orNull<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** A field that may be left out, or null, which SDKs send for one that is not set. */
export function optionalOrNull<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Optional(orNull(schema, description));
}

/** A field for each name. */
export function byName<const Name extends string, Schema extends TSchema>(
  names: readonly Name[],
  schemaOf: (name: Name) => Schema,
) {
  return Object.fromEntries(names.map((name) => [name, schemaOf(name)])) as Record<Name, Schema>;
}

export function integer(description: string, bounds: TNumberOptions) {
  return Type.Integer({ ...bounds, description });
}

export function number(description: string, bounds: TNumberOptions) {
  return Type.Number({ ...bounds, description });
}

export function flag(description: string, byDefault?: boolean) {
  return Type.Boolean({ ...(byDefault !== undefined && { default: byDefault }), description });
}
