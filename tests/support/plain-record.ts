import fc from './property.ts';

/** Gives objects a prototype, so that `deepEqual` treats them as equal to literals. */
export const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { noNullPrototype: true });

/** Records with this `type`. */
export function typed<Type extends string, Fields>(
  type: Type,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
): fc.Arbitrary<{ type: Type } & Fields> {
  return record({ type: fc.constant(type), ...fields }) as fc.Arbitrary<{ type: Type } & Fields>;
}
