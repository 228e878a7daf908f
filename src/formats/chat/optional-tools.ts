// Tools of other kinds than functions and custom tools: some hosts run them, none has a price here.
import { isObject } from '../../lib/json.ts';
import { leaveOutTools, type LeanRequest } from '../optional-tools.ts';
import type { ChatRequest } from './schema.ts';

const sentKinds: ReadonlySet<unknown> = new Set(['function', 'custom']);

/** Leaves out tools that no host may be sent, unless the model must use one. */
export function leaveOutUnsent<Body extends ChatRequest>(body: Body): LeanRequest<Body> {
  return leaveOutTools(body, { isLacking: ({ type }) => !sentKinds.has(type), demandsOther });
}

function demandsOther(choice: unknown, kept: readonly unknown[]): boolean {
  if (!isObject(choice)) return choice === 'required' && kept.length === 0;
  return !sentKinds.has(choice.type) && choice.type !== 'allowed_tools';
}
