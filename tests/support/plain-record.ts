import fc from './property.ts';

/** Objects with a prototype, which `deepEqual` needs to find them equal to literals. */
export const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { noNullPrototype: true });
