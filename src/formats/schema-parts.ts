// Parts of the request schemas of all wire formats.
import { Type, type TSchema } from 'typebox';

/** SDKs send null for fields that were not set. */
export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/**
 * Accepts objects with an unknown `type`. Its static type is `never`, so that a switch sees only
 * the known kinds. Put it first in a union: then a missing `type` is reported as such.
 */
export function unknownKind(...knownKinds: readonly string[]) {
  return Type.Unsafe<never>(
    Type.Object({ type: Type.String({ pattern: `^(?!(?:${knownKinds.join('|')})$)` }) }),
  );
}
