// Tools that OpenAI runs: a model elsewhere lacks them, and does without if it may. Codex sends a web
// search with every request.
import type { JsonObject } from '../../lib/json.ts';
import type { LeanRequest } from '../optional-tools.ts';
import type { ResponsesRequest } from './schema.ts';
import { isKnownTool, runsAtCaller } from './shared-credential.ts';
import { toolListsOf } from './tool-names.ts';
import { isSearchTool } from './web-search.ts';

/** For a model that runs elsewhere: leaves out all that it need not use. */
export function leaveOutHosted<Body extends ResponsesRequest>(body: Body): LeanRequest<Body> {
  return leaveOut(body, isHosted);
}

/** For OpenAI: leaves out kinds that nobody knows, whose price could be any, and an unpriced search. */
export function leaveOutUnsold<Body extends ResponsesRequest>(
  body: Body,
  { hasSearch }: { readonly hasSearch: boolean },
): LeanRequest<Body> {
  return leaveOut(body, (tool) => !isKnownTool(tool) || (!hasSearch && isSearchTool(tool)));
}

/** The client works the computer, but only OpenAI's models know the tool. */
function isHosted(tool: JsonObject): boolean {
  return !runsAtCaller(tool) && tool.type !== 'computer' && tool.type !== 'computer_use_preview';
}

/** Tools are in the request, in items of its input, and in namespaces. */
function leaveOut<Body extends ResponsesRequest>(
  body: Body,
  isLacking: (tool: JsonObject) => boolean,
): LeanRequest<Body> {
  const leftOut: string[] = [];
  let kept = 0;
  const keep = (tools: unknown, path: string): unknown => {
    if (!Array.isArray(tools)) return tools;
    return tools.flatMap((tool: JsonObject, index) => {
      const at = `${path}[${index}]`;
      if (isLacking(tool)) {
        leftOut.push(at);
        return [];
      }
      if (tool.type === 'namespace') return [{ ...tool, tools: keep(tool.tools, `${at}.tools`) }];
      kept++;
      return [tool];
    });
  };
  const lists = new Map<unknown, unknown>(
    toolListsOf(body).map(({ tools, path }) => [tools, keep(tools, path)]),
  );
  if (leftOut.length === 0 || demandsOther(body.tool_choice, kept)) return { body, leftOut: [] };
  const input = Array.isArray(body.input)
    ? body.input.map((item) =>
        'tools' in item && lists.has(item.tools) ? { ...item, tools: lists.get(item.tools) } : item,
      )
    : body.input;
  const choice = choiceWithout(body.tool_choice, isLacking);
  return {
    body: {
      ...body,
      input,
      ...(body.tools && { tools: lists.get(body.tools) }),
      ...(choice && { tool_choice: choice }),
    },
    leftOut,
  };
}

/** OpenAI refuses a choice among tools that are not in the request. */
function choiceWithout(
  choice: ResponsesRequest['tool_choice'],
  isLacking: (tool: JsonObject) => boolean,
): ResponsesRequest['tool_choice'] {
  if (!choice || typeof choice === 'string' || choice.type !== 'allowed_tools') return choice;
  const allowed = choice.tools.filter((tool) => !isLacking(tool));
  return allowed.length === 0 ? 'none' : { ...choice, tools: allowed };
}

const chosenKinds = new Set(['function', 'custom', 'namespace', 'tool_search']);

/** Returns true when the choice demands a tool that is left out. `kept`: how many are not. */
function demandsOther(choice: ResponsesRequest['tool_choice'], kept: number): boolean {
  if (typeof choice === 'string') return choice === 'required' && kept === 0;
  if (!choice) return false;
  if (choice.type !== 'allowed_tools') return !chosenKinds.has(choice.type);
  const allowed = choice.tools as readonly JsonObject[];
  return choice.mode === 'required' && !allowed.some(({ type }) => chosenKinds.has(String(type)));
}
