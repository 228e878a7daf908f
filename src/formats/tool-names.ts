// Fits tool names to the characters and the length that upstreams accept. A name that fits is never
// changed. Another name is fitted everywhere in the request, and the answer has the client's own
// name again. The same request always gives the same names, so that prompt caches hit.
import { hash } from 'node:crypto';
import type { JsonObject } from '../lib/json.ts';
import { editFields, editText } from './edit-json.ts';

/** The tool names that an upstream accepts. All accept letters, digits, `_` and `-`. */
export type ToolNameRule = {
  readonly charactersMax: number;
  /** The first character must not be a digit or `-`. */
  readonly startsWithLetter?: true;
  /** A request whose tools repeat a name is refused. */
  readonly isUnique?: true;
};

/** Both functions return an unknown name unchanged. */
export type ToolNames = {
  readonly toSent: (name: string) => string;
  readonly toClient: (sentName: string) => string;
};

/** `names`: all names in the request, its tools first. Returns null when all of them fit. */
export function fitToolNames(names: readonly string[], rule: ToolNameRule): ToolNames | null {
  if (names.every((name) => fits(name, rule))) return null;
  const taken = new Set(names.filter((name) => fits(name, rule)));
  const sent = new Map<string, string>();
  for (const name of names) {
    if (fits(name, rule) || sent.has(name)) continue;
    const fitted = fit(name, rule, taken);
    taken.add(fitted);
    sent.set(name, fitted);
  }
  const own = new Map([...sent].map(([name, fitted]) => [fitted, name]));
  return { toSent: (name) => sent.get(name) ?? name, toClient: (name) => own.get(name) ?? name };
}

export type Rename = (name: string) => string;

/** Renames what has a `name`. */
export function renameNamed(named: JsonObject, rename: Rename): JsonObject {
  return editFields(named, { name: editText(named.name, rename) });
}

/** A body on the straight path. `renameTools`: renames tools in every place that names one. */
type WrittenBody = {
  readonly written: JsonObject;
  readonly renameTools: (body: JsonObject, rename: Rename) => JsonObject;
  readonly rule: ToolNameRule;
};

/**
 * Fits the names of a client's body in the one that was written of it. `toolNames`: null when all of
 * them fit.
 */
export function withFittedNames(
  asked: JsonObject,
  { written, renameTools, rule }: WrittenBody,
): { readonly body: JsonObject; readonly toolNames: ToolNames | null } {
  const names: string[] = [];
  renameTools(asked, (name) => {
    names.push(name);
    return name;
  });
  const toolNames = fitToolNames(names, rule);
  return { body: toolNames ? renameTools(written, toolNames.toSent) : written, toolNames };
}

function fits(name: string, { charactersMax, startsWithLetter }: ToolNameRule): boolean {
  if (name.length > charactersMax || !/^[\w-]+$/.test(name)) return false;
  return !startsWithLetter || /^[a-zA-Z_]/.test(name);
}

const hashCharacters = 12;

/**
 * Example: `…server__get_weather_1f0c6a9e2b7d`. Keeps the end, which distinguishes the tools of one
 * server, and adds a hash of the whole name.
 */
function fit(
  name: string,
  { charactersMax, startsWithLetter }: ToolNameRule,
  taken: ReadonlySet<string>,
): string {
  const end = name.slice(-(charactersMax - hashCharacters - 1)).replaceAll(/[^\w-]/g, '_');
  const allowed = startsWithLetter ? end.replace(/^[^a-zA-Z_]/, '_') : end;
  for (let turn = 0; ; turn++) {
    const digest = hash('sha256', JSON.stringify([name, turn])).slice(0, hashCharacters);
    const candidate = `${allowed}_${digest}`;
    if (!taken.has(candidate)) return candidate;
  }
}
