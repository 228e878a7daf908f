// Reads the YAML file and keeps the location of each field, so that every later fault can name its
// line.
import { readFileSync } from 'node:fs';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type YAMLParseError,
} from 'yaml';
import { isObject } from '../lib/json.ts';
import { ConfigError, type FieldPath, type FileLocation } from './config-error.ts';
import { maskVariables } from './variables.ts';

export type ConfigFileText = {
  /** The fields as written; references to variables are still masked. */
  readonly root: Record<string, unknown>;
  /**
   * The location of a field's value, or of its name for `'name'`. For a missing field, the location
   * of its nearest parent.
   */
  readonly locationOf: (path: FieldPath, part?: 'name' | 'value') => FileLocation;
};

/** Throws ConfigError when the file cannot be read, is not YAML, or does not contain fields. */
export function readConfigFile(file: string): ConfigFileText {
  return parseConfigFile(readText(file), file);
}

/** A file with only comments is valid and has no fields. */
function parseConfigFile(text: string, file: string): ConfigFileText {
  const lines = new LineCounter();
  const document = parseDocument(maskVariables(text), {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
  });
  const locationAt = (offset: number): FileLocation => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const [syntax] = document.errors;
  if (syntax) throw syntaxFault(syntax, locationAt(syntax.pos[0]));
  return {
    root: rootOf(document, locationAt),
    locationOf: (path, part = 'value') => locationAt(offsetOf(document, path, part)),
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new ConfigError({
      field: '',
      problem: `The configuration file ${file} ${missing ? 'does not exist' : 'cannot be read'}`,
      remedy: missing
        ? 'Create it, point TOLLGATE_CONFIG at another, or unset TOLLGATE_CONFIG to start with the defaults.'
        : `Check that it is a file and that this user may read it (${(error as NodeJS.ErrnoException).code}).`,
    });
  }
}

function rootOf(
  document: Document,
  locationAt: (offset: number) => FileLocation,
): Record<string, unknown> {
  const root = toPlain(document, locationAt);
  if (root === null || root === undefined) return {};
  if (isObject(root)) return root;
  throw new ConfigError({
    location: locationAt(document.contents?.range?.[0] ?? 0),
    field: '',
    problem: `The file must hold sections such as \`server:\`; got ${Array.isArray(root) ? 'a list' : 'a single value'}`,
    remedy: 'Begin each section with its name and a colon; docs/configuration.md has an example.',
  });
}

function toPlain(document: Document, locationAt: (offset: number) => FileLocation): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new ConfigError({
      location: locationAt(document.contents?.range?.[0] ?? 0),
      field: '',
      problem:
        'The file must be YAML; got a `*reference` that has no `&anchor` before it, or far too many of them',
      remedy: 'Put a value that begins with * in quotes, or write repeated values out.',
    });
  }
}

/** The parser's own messages can quote the text, which may be a secret. These never do. */
function syntaxFault({ code }: YAMLParseError, location: FileLocation): ConfigError {
  const [problem, remedy] = syntaxFaults[code] ?? [
    'The file must be YAML; got something that is not',
    'Check quotes, colons, brackets and indentation on this line and the one before.',
  ];
  return new ConfigError({ location, field: '', problem, remedy });
}

const syntaxFaults: Partial<
  Record<YAMLParseError['code'], readonly [problem: string, remedy: string]>
> = {
  DUPLICATE_KEY: [
    'A field must be set once; this one is set a second time',
    'Remove one of the two.',
  ],
  TAB_AS_INDENT: [
    'Lines must be indented with spaces; got a tab',
    'Replace the tab by two spaces.',
  ],
  BAD_INDENT: [
    'The fields of a section must be indented alike',
    'Align this line with its siblings, or close the open bracket.',
  ],
  MULTIPLE_DOCS: ['The file must be one YAML document; got a second one', 'Remove the `---` line.'],
  BAD_SCALAR_START: [
    'A value must not begin with this character unless it is quoted',
    'Put the value in quotes.',
  ],
  MISSING_CHAR: [
    'A quote or bracket is not closed, or a colon is missing',
    'Close it, or write `name: value`.',
  ],
  BAD_DQ_ESCAPE: [
    'A value in double quotes has an unknown \\ escape',
    'Use single quotes, or double the backslash.',
  ],
  BLOCK_AS_IMPLICIT_KEY: [
    'A line must hold one `name: value`',
    'Put the value in quotes if it holds a colon, or check the indentation.',
  ],
  MULTILINE_IMPLICIT_KEY: [
    'A name must stand on one line with its colon',
    'Write `name: value`; check the indentation.',
  ],
  UNEXPECTED_TOKEN: [
    'Something follows where the value has ended',
    'Put the whole value in quotes, and check the brackets.',
  ],
};

/** Returns the offset of the deepest existing part of the path. */
function offsetOf(document: Document, path: FieldPath, part: 'name' | 'value'): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const [depth, step] of path.entries()) {
    const next = childOf(isAlias(node) ? (node.resolve(document) ?? null) : node, step);
    if (!next) return offset;
    const wantsName = part === 'name' && depth === path.length - 1;
    offset = (wantsName ? next.name : (next.value ?? next.name))?.range?.[0] ?? offset;
    node = next.value;
  }
  return offset;
}

function childOf(
  node: Node | null,
  step: string | number,
): { name: Node | null; value: Node | null } | null {
  if (isSeq(node)) {
    const item = node.items[Number(step)] as Node | undefined;
    return item ? { name: item, value: item } : null;
  }
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  return pair ? { name: pair.key as Node, value: pair.value as Node | null } : null;
}
