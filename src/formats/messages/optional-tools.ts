// Tools that Anthropic runs: a model elsewhere lacks them, and does without if it may. And tools that
// repeat a name, which Anthropic refuses.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { leaveOutTools, type LeanRequest } from '../optional-tools.ts';
import type { MessagesRequest } from './schema.ts';
import { isUnknownTool, runsAtClient } from './shared-credential.ts';
import { isSearchTool } from './web-search.ts';

/** For a model that runs elsewhere: leaves out all that it need not use. */
export function leaveOutHosted<Body extends MessagesRequest>(body: Body): LeanRequest<Body> {
  return leaveOut(body, (tool) => !runsAtClient(tool));
}

/** For Anthropic: leaves out kinds that nobody knows, whose price could be any, and an unpriced search. */
export function leaveOutUnsold<Body extends MessagesRequest>(
  body: Body,
  { hasSearch }: { readonly hasSearch: boolean },
): LeanRequest<Body> {
  return leaveOut(body, (tool) => isUnknownTool(tool) || (!hasSearch && isSearchTool(tool)));
}

function leaveOut<Body extends MessagesRequest>(
  body: Body,
  isLacking: (tool: JsonObject) => boolean,
): LeanRequest<Body> {
  const isNamed = (tool: unknown, name: unknown) => isObject(tool) && tool.name === name;
  return leaveOutTools(body, {
    isLacking,
    nameOf: ({ name }) => name,
    demandsOther: (choice, kept) =>
      isObject(choice) &&
      ((choice.type === 'any' && kept.length === 0) ||
        (choice.type === 'tool' && !kept.some((tool) => isNamed(tool, choice.name)))),
  });
}
