// Keeps values in the browser beyond a reload, larger than local storage takes. All is removed when
// the user signs out. A browser that forbids storage keeps nothing.
const databaseName = 'tollgate';
const storeName = 'values';

/** Returns null when nothing is kept under the name. */
export async function readKept(name: string): Promise<unknown> {
  try {
    return (await run('readonly', (store) => store.get(name))) ?? null;
  } catch {
    return null;
  }
}

export async function keep(name: string, value: unknown): Promise<void> {
  await run('readwrite', (store) => store.put(value, name)).catch(() => {});
}

export async function removeKept(): Promise<void> {
  await run('readwrite', (store) => store.clear()).catch(() => {});
}

async function run<Result>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const database = await open();
  try {
    const transaction = database.transaction(storeName, mode);
    const request = act(transaction.objectStore(storeName));
    await new Promise<void>((resolve, reject) => {
      transaction.addEventListener('complete', () => resolve());
      transaction.addEventListener('abort', () => reject(transaction.error!));
    });
    return request.result;
  } finally {
    database.close();
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(databaseName, 1);
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore(storeName));
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error!));
  });
}
