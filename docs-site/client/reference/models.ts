// The models that the reader's key may run.
import { watchKey } from '../key.ts';

type Entry = { readonly id: string; readonly type?: string };

/** Read once for each key. */
const lists = new Map<string | null, Promise<readonly Entry[]>>();

/** Calls `listener` with the ids of one type of models, and again when the key changes. */
export function watchModels(
  type: 'chat' | 'image',
  listener: (names: readonly string[]) => void,
): void {
  let current: string | null = null;
  watchKey((key) => {
    current = key;
    if (!lists.has(key)) lists.set(key, readModels(key));
    void lists.get(key)!.then((entries) => {
      if (key !== current) return null; // A newer key is under way.
      const isImage = type === 'image';
      listener(entries.filter((entry) => (entry.type === 'image') === isImage).map(({ id }) => id));
      return null;
    });
  });
}

/** Without a usable key, the list is that of everybody. */
async function readModels(key: string | null): Promise<readonly Entry[]> {
  // A half-typed key would count as a wrong one.
  const isWhole = key !== null && /^tg_(?:live|test)_\w{32,}$/.test(key);
  const headers: Record<string, string> = isWhole ? { authorization: `Bearer ${key}` } : {};
  const response = await fetch('/v1/models', { headers, credentials: 'omit' }).catch(() => null);
  if (!response?.ok) return [];
  return ((await response.json()) as { readonly data: readonly Entry[] }).data;
}
