// What the request schemas of all wire formats are made with.
import { Type, type TSchema } from 'typebox';

/** SDKs send null for what was not set. */
export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/**
 * Takes what carries a `type` that we do not know; its static type is `never`, so that a switch sees the known kinds alone. First in
 * a union, a missing `type` is reported as just that.
 */
export function unknownKind(...knownKinds: readonly string[]) {
  return Type.Unsafe<never>(Type.Object({ type: Type.String({ pattern: `^(?!(?:${knownKinds.join('|')})$)` }) }));
}
