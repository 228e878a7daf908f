// Flattens tool names for other formats. Responses groups functions in namespaces and has its own
// tool for searching tools. Other formats have one flat list and short names. The same request
// always gives the same names, so history and answer agree with it.
import { createHash } from 'node:crypto';
import type { ResponsesRequest, ToolDefinition } from './schema.ts';

/** A tool under the client's name. */
export type ToolOrigin =
  | { readonly type: 'named'; readonly namespace: string | null; readonly name: string }
  | { readonly type: 'search' };

export type QualifiedToolName = { readonly namespace: string | null; readonly name: string };

export type ToolNames = {
  /** Returns the flat name of a tool, even of one that the request no longer defines. */
  readonly nameOf: (tool: QualifiedToolName) => string;
  /** Returns the flat name that a choice means: OpenAI's type has no namespace there. */
  readonly nameOfChoice: (choice: QualifiedToolName) => string;
  readonly searchName: string;
  /** Reverses the others. A name that the model invented stays unchanged. */
  readonly originOf: (flatName: string) => ToolOrigin;
};

const charactersMax = 64;

export function toolNamesOf(request: ResponsesRequest): ToolNames {
  const tools = toolListsOf(request).flatMap((list) => list.tools);
  const book: NameBook = { origins: new Map(tools.flatMap(ownNames)), flatNames: new Map() };
  const members = tools.flatMap(membersOf);
  for (const member of members) nameOf(book, member);
  // The first tool of a name wins.
  const memberOf = new Map(members.toReversed().map((member) => [member.name, member]));
  const searchName = book.origins.has('tool_search')
    ? flatten({ namespace: 'tool_search', name: 'client' }, book)
    : 'tool_search';
  if (tools.some((tool) => tool.type === 'tool_search'))
    book.origins.set(searchName, { type: 'search' });
  return {
    searchName,
    nameOf: (tool) => nameOf(book, tool),
    nameOfChoice: (choice) => {
      const isKnown = choice.namespace !== null || book.origins.has(choice.name);
      return nameOf(book, isKnown ? choice : (memberOf.get(choice.name) ?? choice));
    },
    originOf: (flatName) =>
      book.origins.get(flatName) ?? named({ namespace: null, name: flatName }),
  };
}

type NameBook = {
  /** Keyed by flat name. */
  readonly origins: Map<string, ToolOrigin>;
  /** Keyed by namespace and name, as JSON. */
  readonly flatNames: Map<string, string>;
};

function nameOf(book: NameBook, tool: QualifiedToolName): string {
  if (tool.namespace === null) return tool.name;
  const key = JSON.stringify([tool.namespace, tool.name]);
  const known = book.flatNames.get(key);
  if (known !== undefined) return known;
  const flatName = flatten(tool, book);
  book.flatNames.set(key, flatName);
  book.origins.set(flatName, named(tool));
  return flatName;
}

/**
 * Returns every list of tools in a request, in order, with its path: Codex sends some as items, and
 * a search loads more.
 */
export function toolListsOf(
  request: ResponsesRequest,
): { readonly path: string; readonly tools: readonly ToolDefinition[] }[] {
  const lists = [{ path: 'tools', tools: request.tools ?? [] }];
  const items = Array.isArray(request.input) ? request.input : [];
  for (const [index, item] of items.entries()) {
    if (item.type === 'additional_tools' || item.type === 'tool_search_output') {
      lists.push({ path: `input[${index}].tools`, tools: item.tools });
    }
  }
  return lists;
}

function named(qualified: QualifiedToolName): ToolOrigin {
  return { type: 'named', ...qualified };
}

/** Returns the name of a tool outside a namespace. */
function ownNames(tool: ToolDefinition): [string, ToolOrigin][] {
  if (tool.type !== 'function' && tool.type !== 'custom') return [];
  return [[tool.name, named({ namespace: null, name: tool.name })]];
}

function membersOf(tool: ToolDefinition): QualifiedToolName[] {
  if (tool.type !== 'namespace') return [];
  return tool.tools.flatMap((member) =>
    'name' in member ? [{ namespace: tool.name, name: member.name }] : [],
  );
}

/**
 * Example: `crm__list_orders`, if other formats accept it and it is free; else its beginning and a
 * hash of both names.
 */
function flatten({ namespace, name }: QualifiedToolName, { origins }: NameBook): string {
  const plain = `${namespace}__${name}`;
  const allowed = plain.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  if (allowed === plain && plain.length <= charactersMax && !origins.has(plain)) return plain;
  for (let turn = 0; ; turn++) {
    const hash = createHash('sha256')
      .update(JSON.stringify([namespace, name, turn]))
      .digest('hex')
      .slice(0, 8);
    const candidate = `${allowed.slice(0, charactersMax - hash.length - 1)}_${hash}`;
    if (!origins.has(candidate)) return candidate;
  }
}
