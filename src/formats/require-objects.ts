// The items of an answer's lists are objects in every format. Anything else breaks the clients'
// SDKs, so such an answer is unreadable.
import { isObject } from '../lib/json.ts';
import { UnreadableAnswer } from './format.ts';

/**
 * Throws UnreadableAnswer when an item is not an object. A value that is not a list has no items.
 * `what`: the list's name, for the operator.
 */
export function requireObjects(list: unknown, what: string): void {
  if (Array.isArray(list) && !list.every(isObject))
    throw new UnreadableAnswer(`${what} of the answer holds an item that is not an object`);
}
