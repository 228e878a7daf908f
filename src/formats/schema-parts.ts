// Parts of the request schemas of all wire formats.
import { Type, type TProperties, type TSchema } from 'typebox';

/** An object that says its kind in `type`. */
export function ofKind<Name extends string, Fields extends TProperties>(
  name: Name,
  fields: Fields,
) {
  return Type.Object({ type: Type.Literal(name), ...fields });
}

/** Objects of these kinds, and of any other. */
export function openUnion<Kinds extends TSchema[]>(...kinds: [...Kinds]) {
  return Type.Union([...kinds, unknownKind(kinds)]);
}

/**
 * Accepts objects with a `type` that none of these has. Its static type is `never`, so that a switch
 * sees only the known kinds. Put it first in a union: then a missing `type` is reported as such.
 */
export function unknownKind(kinds: readonly TSchema[]) {
  const names = kinds.flatMap(namesOf);
  return Type.Unsafe<never>(
    Type.Object({ type: Type.String({ pattern: `^(?!(?:${names.join('|')})$)` }) }),
  );
}

/** A kind may have several names, or be the one that is meant without a `type`. */
function namesOf(schema: TSchema): unknown[] {
  const { type } = (schema as { properties?: { type?: Tag } }).properties ?? {};
  return [type ?? {}, ...(type?.anyOf ?? [])].flatMap((tag) => tag.const ?? []);
}

type Tag = { readonly const?: unknown; readonly anyOf?: readonly Tag[] };

export function words<Words extends readonly string[]>(...names: Words) {
  return Type.Unsafe<Words[number]>(Type.Union(names.map((name) => Type.Literal(name))));
}
