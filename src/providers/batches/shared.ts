import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

/** Pages of a list that are read in search of a batch. */
export const pagesMax = 100;

export function unreadable(message: string): UpstreamBroken {
  return new UpstreamBroken({
    kind: 'unreadable',
    status: null,
    message,
    retryAfterSeconds: null,
  });
}

/** Throws UpstreamBroken for what cannot stand in a path. */
export function readId(value: unknown): string {
  if (typeof value === 'string' && /^[\w.-]{1,200}$/.test(value) && !/^\.+$/.test(value))
    return value;
  throw unreadable('the answer has no id');
}

export function readList({ data }: JsonObject): readonly JsonObject[] {
  if (Array.isArray(data) && data.every(isObject)) return data;
  throw unreadable('the answer is no list');
}
