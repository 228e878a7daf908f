// Tools that Anthropic runs: a model elsewhere lacks them, and does without if it may.
import { isObject } from '../../lib/json.ts';
import { leaveOutTools, type LeanRequest, type OptionalTools } from '../optional-tools.ts';
import type { MessagesRequest } from './schema.ts';
import { isUnknownTool, runsAtClient } from './shared-credential.ts';
import { isSearchTool } from './web-search.ts';

/** For a model that runs elsewhere: leaves out all that it need not use. */
export function leaveOutHosted<Body extends MessagesRequest>(body: Body): LeanRequest<Body> {
  return leaveOut(body, { isLacking: (tool) => !runsAtClient(tool) });
}

/**
 * For Anthropic: leaves out kinds that nobody knows, whose price could be any, an unpriced search, and
 * repeated names.
 */
export function leaveOutUnsold<Body extends MessagesRequest>(
  body: Body,
  { hasSearch }: { readonly hasSearch: boolean },
): LeanRequest<Body> {
  return leaveOut(body, {
    isLacking: (tool) => isUnknownTool(tool) || (!hasSearch && isSearchTool(tool)),
    nameOf: ({ name }) => name,
  });
}

function leaveOut<Body extends MessagesRequest>(
  body: Body,
  tools: Pick<OptionalTools, 'isLacking' | 'nameOf'>,
): LeanRequest<Body> {
  const isNamed = (tool: unknown, name: unknown) => isObject(tool) && tool.name === name;
  return leaveOutTools(body, {
    ...tools,
    demandsOther: (choice, kept) =>
      isObject(choice) &&
      ((choice.type === 'any' && kept.length === 0) ||
        (choice.type === 'tool' && !kept.some((tool) => isNamed(tool, choice.name)))),
  });
}
