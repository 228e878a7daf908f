// The store behind test gateways: SQLite, or the one that TOLLGATE_TEST_DATABASE names, so that any
// test runs on either.
export type StoreName = 'sqlite' | 'postgres';

const usual: StoreName =
  process.env['TOLLGATE_TEST_DATABASE'] === 'postgres' ? 'postgres' : 'sqlite';
let current = usual;

/** False where the variable names the other store: tests of both stores then run on that one alone. */
export const isChosen = (store: StoreName): boolean => usual === 'sqlite' || store === usual;

export function currentStore(): StoreName {
  return current;
}

export function useStore(store: StoreName): void {
  current = store;
}
