import fc from './property.ts';

/** Gives objects a prototype, so that `deepEqual` treats them as equal to literals. */
export const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { noNullPrototype: true });
