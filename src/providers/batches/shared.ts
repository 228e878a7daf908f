import { unreadable } from '../../canonical/upstream-broken.ts';
import { isObject, type JsonObject, parseJson, objectOf } from '../../lib/json.ts';
import { splitLines } from '../../lib/split-lines.ts';
import type { FailedBatch, HostCalls, ReadLine } from './host.ts';

/** Pages of a list that are read in search of a batch. */
export const pagesMax = 100;

/** The longest line of results that is read. */
export const resultBytesMax = 16 * 1024 * 1024;

/** Reads a file of results, of any length. Empty lines are left out. */
export async function* readJsonLines(calls: HostCalls, path: string): AsyncGenerator<ReadLine> {
  for await (const { text, isCut } of splitLines(await calls.read(path), resultBytesMax)) {
    const bytes = text.length;
    if (bytes === 0) continue;
    const parsed = isCut ? null : parseJson(text, { depthMax: 1_000 });
    const line = parsed?.ok && isObject(parsed.value) ? parsed.value : null;
    yield { line, bytes, ...(isCut && { cut: text.toString() }) };
  }
}

/** Names of a list's items, of the next page's token, and of the parameter that asks for that page. */
type ListNames = { readonly items: string; readonly next: string; readonly query: string };

/** Yields the items of a list in pages. `path` has a query. Throws UpstreamBroken when it has no end. */
export async function* listed(
  calls: HostCalls,
  path: string,
  { items, next, query }: ListNames,
): AsyncGenerator<JsonObject> {
  let page = path;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const answer = await calls.call('GET', page);
    // An empty list is left out.
    yield* readList(answer[items] ?? []);
    const token = answer[next];
    if (typeof token !== 'string' || token === '') return;
    page = `${path}&${query}=${encodeURIComponent(token)}`;
  }
  throw unreadable('the list is too long');
}

/** Returns a batch that has failed as a whole. `error`: as the host shows it. */
export function failedBy(
  error: unknown,
  { mayPass = false, files = [] }: Partial<FailedBatch> = {},
): FailedBatch {
  const { message } = objectOf(error);
  const said = typeof message === 'string' ? message : 'it does not say why';
  return { state: 'failed', message: said, mayPass, files };
}

/** Throws UpstreamBroken for what cannot stand in a path. */
export function readId(value: unknown): string {
  if (typeof value === 'string' && /^[\w.-]{1,200}$/.test(value) && !/^\.+$/.test(value))
    return value;
  throw unreadable('the answer has no id');
}

export function readList(data: unknown): readonly JsonObject[] {
  if (Array.isArray(data) && data.every(isObject)) return data;
  throw unreadable('the answer is no list');
}
