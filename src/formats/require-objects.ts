// The parts of a whole answer are objects in every format. On anything else the clients' SDKs break, so that it is no answer.
import { isObject } from '../lib/json.ts';
import { UnreadableAnswer } from './format.ts';

/** Throws UnreadableAnswer when an item is no object. What is no list has no items. `what`: the list's name, for the operator. */
export function requireObjects(list: unknown, what: string): void {
  if (Array.isArray(list) && !list.every(isObject)) throw new UnreadableAnswer(`${what} of the answer holds what is no object`);
}
