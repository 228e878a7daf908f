// The store behind test gateways: SQLite, or the one that TOLLGATE_TEST_DATABASE names, so that any
// test runs on either.
export type StoreName = 'sqlite' | 'postgres';

let current: StoreName =
  process.env['TOLLGATE_TEST_DATABASE'] === 'postgres' ? 'postgres' : 'sqlite';

export function currentStore(): StoreName {
  return current;
}

export function useStore(store: StoreName): void {
  current = store;
}
