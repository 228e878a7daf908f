// Leaves out tools that the target lacks and that the model may but need not use, such as a
// provider's own web search, and those that repeat a name, where the target refuses that. A tool that
// the model must use stays, and is refused later.
import { isObject, type JsonObject, listOf } from '../lib/json.ts';

export type LeanRequest<Body> = {
  readonly body: Body;
  /** The paths of the tools that are left out, such as `tools[2]`. */
  readonly leftOut: readonly string[];
};

type OptionalTools = {
  readonly isLacking: (tool: JsonObject) => boolean;
  /** Returns the tool's name. Left out: the target accepts repeated names. */
  readonly nameOf?: ((tool: JsonObject) => unknown) | undefined;
  /** Returns true when the choice demands a tool that is not among `kept`. */
  readonly demandsOther: (choice: unknown, kept: readonly unknown[]) => boolean;
};

/** For formats with one list of tools. Returns the same body when nothing is left out. */
export function leaveOutTools<Body extends JsonObject>(
  body: Body,
  { isLacking, nameOf = () => undefined, demandsOther }: OptionalTools,
): LeanRequest<Body> {
  const leftOut: string[] = [];
  const names = new Set<unknown>();
  const isRepeated = (name: unknown) =>
    typeof name === 'string' && names.size === names.add(name).size;
  const tools = listOf(body.tools);
  const kept = tools.filter((tool, index) => {
    if (!isObject(tool) || !(isLacking(tool) || isRepeated(nameOf(tool)))) return true;
    leftOut.push(`tools[${index}]`);
    return false;
  });
  const isEmptied = Array.isArray(body.tools) && tools.length === 0 && isIdle(body);
  if (isEmptied) return { body: withoutTools(body), leftOut: [] };
  if (leftOut.length === 0 || demandsOther(body.tool_choice, kept)) return { body, leftOut: [] };
  if (kept.length > 0) return { body: { ...body, tools: kept }, leftOut };
  return { body: withoutTools(body), leftOut };
}

/** Returns true when the choice demands no tool. */
function isIdle({ tool_choice: choice }: JsonObject): boolean {
  const kind = isObject(choice) ? choice.type : (choice ?? 'auto');
  return kind === 'auto' || kind === 'none';
}

/** OpenAI refuses an empty list, and the other two without tools. */
function withoutTools<Body extends JsonObject>(body: Body): Body {
  const { tools: _, tool_choice: _choice, parallel_tool_calls: _parallel, ...rest } = body;
  return rest as unknown as Body;
}
