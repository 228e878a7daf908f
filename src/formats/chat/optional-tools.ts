// Tools of other kinds than functions and custom tools: some hosts run them, none has a price here.
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { UpstreamTarget } from '../format.ts';
import { leaveOutTools, type LeanRequest } from '../optional-tools.ts';
import type { ChatRequest } from './schema.ts';

const sentKinds: ReadonlySet<unknown> = new Set(['function', 'custom']);

/**
 * Leaves out tools that no host may be sent, unless the model must use one, and repeated names.
 * `target`: of the straight path. OpenAI accepts tools of one name; DeepSeek and Kimi refuse them.
 */
export function leaveOutUnsent<Body extends ChatRequest>(
  body: Body,
  target?: Pick<UpstreamTarget, 'isOpenAi'>,
): LeanRequest<Body> {
  return leaveOutTools(body, {
    isLacking: ({ type }) => !sentKinds.has(type),
    nameOf: target?.isOpenAi ? undefined : nameOf,
    demandsOther,
  });
}

function nameOf({ function: called, custom }: JsonObject): unknown {
  return isObject(called) ? called.name : isObject(custom) && custom.name;
}

function demandsOther(choice: unknown, kept: readonly unknown[]): boolean {
  if (!isObject(choice)) return choice === 'required' && kept.length === 0;
  return !sentKinds.has(choice.type) && choice.type !== 'allowed_tools';
}
