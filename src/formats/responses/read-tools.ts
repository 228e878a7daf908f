// Reads a request's tools and tool choice for upstreams of another format: one flat list of
// functions and custom tools. Tools that run at OpenAI, or that only its models know, are refused
// by name.
import { invalidRequest, type ApiError, quoted } from '../../canonical/errors.ts';
import type { CanonicalRequest, Tool } from '../../canonical/request.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { ResponsesRequest, ToolDefinition } from './schema.ts';
import { withoutEncryption } from './agent-messages.ts';
import { toolListsOf, type ToolNames } from './tool-names.ts';
import { readSearchTool } from './tool-search.ts';

type FunctionTool = Extract<ToolDefinition, { type: 'function' }>;
type CustomTool = Extract<ToolDefinition, { type: 'custom' }>;
type NamespaceTool = Extract<ToolDefinition, { type: 'namespace' }>;

/**
 * Throws ApiError `invalid_request` that names the tool. A tool that a later item loads again
 * counts once.
 */
export function readTools(request: ResponsesRequest, names: ToolNames): Tool[] {
  const [own = [], ...loaded] = toolListsOf(request).map(({ tools, path }) =>
    tools.flatMap((tool, index) => readTool(tool, `${path}[${index}]`, names)),
  );
  const ownNames = new Set(own.map((tool) => tool.name));
  const byName = new Map(loaded.flat().map((tool) => [tool.name, tool]));
  return [...own, ...[...byName.values()].filter((tool) => !ownNames.has(tool.name))];
}

function readTool(tool: ToolDefinition, path: string, names: ToolNames): Tool[] {
  switch (tool.type) {
    case 'function':
      return [readFunction(tool)];
    case 'custom':
      return [readCustomTool(tool)];
    case 'namespace':
      return readNamespace(tool, path, names);
    case 'tool_search':
      if (tool.execution === 'client') return [readSearchTool(tool, names.searchName)];
      throw notAvailable(
        `${path}.execution`,
        'tool_search runs at the provider unless `execution` is `client`',
      );
    default:
      throw foreignTool(`${path}.type`, (tool as { type: string }).type);
  }
}

function readFunction({ name, description, parameters, strict }: FunctionTool): Tool {
  return {
    name,
    description: description ?? null,
    // A function without parameters still takes an object.
    parameters: withoutEncryption(parameters ?? { type: 'object', properties: {} }),
    strict: strict ?? null,
    kind: 'function',
  };
}

function readCustomTool({ name, description, format }: CustomTool): Tool {
  return {
    name,
    description: description ?? null,
    parameters: null,
    strict: null,
    kind: 'custom',
    ...(format?.type === 'grammar'
      ? { grammar: { syntax: format.syntax, definition: format.definition } }
      : {}),
  };
}

/** The namespace's description goes to its first tool. */
function readNamespace(
  { name: namespace, description, tools }: NamespaceTool,
  path: string,
  names: ToolNames,
): Tool[] {
  const read = tools.flatMap((tool, index) => {
    const toolPath = `${path}.tools[${index}]`;
    return readTool(tool, toolPath, names).map((member) => ({
      ...member,
      name: names.nameOf({ namespace, name: member.name }),
    }));
  });
  const [first, ...others] = read;
  if (!first || !description) return read;
  const about = `About the tools of ${namespace}: ${description}`;
  return [
    {
      ...first,
      description: first.description === null ? about : `${about}\n\n${first.description}`,
    },
    ...others,
  ];
}

/** Lists tool options that have no meaning elsewhere. */
export function ignoredToolFields(request: ResponsesRequest): string[] {
  const tools = toolListsOf(request).flatMap((list) =>
    list.tools.flatMap((tool) => (tool.type === 'namespace' ? tool.tools : [tool])),
  );
  const isSet = (field: string) =>
    tools.some((tool: object) => isAskedFor((tool as Readonly<Record<string, unknown>>)[field]));
  return ['allowed_callers', 'async', 'defer_loading', 'output_schema']
    .filter(isSet)
    .map((field) => `tools.${field}`);
}

/** Limiting the choice to some tools is supported only when they are all tools of the request. */
export function readToolChoice(
  choice: ResponsesRequest['tool_choice'],
  tools: readonly Tool[],
  names: ToolNames,
): Pick<CanonicalRequest, 'tools' | 'toolChoice'> {
  if (choice === null || choice === undefined) return { tools, toolChoice: null };
  if (typeof choice === 'string') return { tools, toolChoice: { type: choice } };
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { tools, toolChoice: { type: 'tool', name: nameOfChoice(choice, names) } };
    case 'allowed_tools': {
      const allowed = new Set(choice.tools.map((tool) => nameOfAllowed(tool, names)));
      return {
        tools: tools.filter((tool) => allowed.has(tool.name)),
        toolChoice: { type: choice.mode },
      };
    }
    default:
      throw notAvailable('tool_choice.type', quoted((choice as { type: string }).type));
  }
}

function nameOfAllowed(
  tool: { type: string; name?: string | null },
  names: ToolNames,
): string | undefined {
  if (tool.type === 'tool_search') return names.searchName;
  return typeof tool.name === 'string'
    ? nameOfChoice({ ...tool, name: tool.name }, names)
    : undefined;
}

/** OpenAI's types have no namespace here; one that is sent is used. */
function nameOfChoice(choice: { name: string; namespace?: unknown }, names: ToolNames): string {
  const { name, namespace } = choice;
  return names.nameOfChoice({ namespace: typeof namespace === 'string' ? namespace : null, name });
}

const atCaller = new Set(['local_shell', 'shell', 'apply_patch']);

function foreignTool(path: string, type: string): ApiError {
  if (atCaller.has(type))
    return notAvailable(
      path,
      `${quoted(type)} exists only for OpenAI's models and`,
      'Define a function instead',
    );
  // Where the model may do without it, it has been left out.
  return invalidRequest(
    path,
    `${path} ${quoted(type)} runs at OpenAI only, and \`tool_choice\` demands it. Use a function of your own, or set \`tool_choice\` to \`auto\`.`,
  );
}

function notAvailable(path: string, what: string, remedy = 'Leave it out'): ApiError {
  return invalidRequest(path, `${path} ${what} is not available on this model. ${remedy}.`);
}
