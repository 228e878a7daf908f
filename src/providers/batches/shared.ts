import { unreadable } from '../../canonical/upstream-broken.ts';
import { isObject, type JsonObject, parseJson, objectOf } from '../../lib/json.ts';
import { splitLines } from '../../lib/split-lines.ts';
import type { FailedBatch, HostCalls, ReadLine, RemoteBatch } from './host.ts';

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

type State = 'running' | 'completed' | 'canceled' | 'expired' | 'failed';

/**
 * Returns the state for a host's word. `words`: the host's for each, between spaces. Throws
 * UpstreamBroken.
 */
export function stateOf(words: Readonly<Record<State, string>>, word: unknown): State {
  for (const state of ['running', 'completed', 'canceled', 'expired', 'failed'] as const)
    if (words[state].split(' ').includes(String(word))) return state;
  throw unreadable('the batch has an unknown status');
}

/** Returns a batch that has ended. `paths`: as in RemoteBatch. */
export function endedAs(
  state: Exclude<State, 'running' | 'failed'>,
  paths: { readonly results: readonly string[]; readonly files: readonly string[] },
): RemoteBatch {
  return { state: 'ended', unrun: state === 'completed' ? null : state, ...paths };
}

/** Returns a batch that has failed as a whole. `error`: as the host shows it. */
export function failedBy(
  error: unknown,
  { mayPass = false, results = [], files = [] }: Partial<FailedBatch> = {},
): FailedBatch {
  const { message } = objectOf(error);
  const said = typeof message === 'string' ? message : 'it does not say why';
  return { state: 'failed', message: said, mayPass, results, files };
}

/** Returns the id at the end of a name: `batches/x` → `x`. Throws UpstreamBroken. */
export function readIdIn(name: unknown): string {
  return readId(typeof name === 'string' ? name.replace(/^.*\//, '') : name);
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
