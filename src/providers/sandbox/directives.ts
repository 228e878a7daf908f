// Directives: lines of the last user message that start with `sandbox:` and say how the sandbox behaves. Such a line is always a
// directive, so that a misspelt one is explained instead of being answered as if it were not there.

export type Directives = {
  readonly toolCalls: readonly ToolDirective[];
  readonly think: string | null;
  /** Exactly this many output tokens. */
  readonly tokens: number | null;
  /** Before the first delta. */
  readonly delayMs: number;
  /** Between deltas. */
  readonly paceMs: number;
  /** Fail with this status. */
  readonly status: number | null;
  /** Break off after this many deltas. */
  readonly cutAfter: number | null;
  readonly withoutUsage: boolean;
};
/** `input`: the arguments as they were written; null when none were. */
export type ToolDirective = { readonly name: string; readonly input: string | null };

/** `text`: the message without its directives. */
export type ReadDirectives =
  | { readonly kind: 'read'; readonly directives: Directives; readonly text: string }
  | { readonly kind: 'malformed'; readonly message: string };

export const noDirectives: Directives = {
  toolCalls: [],
  think: null,
  tokens: null,
  delayMs: 0,
  paceMs: 0,
  status: null,
  cutAfter: null,
  withoutUsage: false,
};

/** Reads every directive of a message. `malformed.message` tells the developer what to write instead. */
export function readDirectives(message: string): ReadDirectives {
  const draft: Draft = { ...noDirectives, toolCalls: [] };
  const seen = new Set<string>();
  const rest: string[] = [];
  for (const line of message.split(/\r\n|\r|\n/)) {
    const content = /^\s*sandbox:(.*)$/.exec(line)?.[1]?.trim();
    if (content === undefined) {
      rest.push(line);
      continue;
    }
    const problem = readDirective(content, draft, seen);
    if (problem !== null) return { kind: 'malformed', message: `The directive \`${shorten(line.trim())}\` ${problem}` };
  }
  return { kind: 'read', directives: draft, text: rest.join('\n').trim() };
}

type Draft = { -readonly [Field in keyof Directives]: Directives[Field] };
/** Writes the value into the draft, or returns what is wrong with it. */
type Reader = (value: string, draft: Draft) => string | null;

const readers: Readonly<Record<string, Reader>> = {
  tool: readTool,
  think: readThink,
  tokens: numberReader('tokens', 0, 10_000_000),
  delay_ms: numberReader('delayMs', 0, 600_000),
  pace_ms: numberReader('paceMs', 0, 60_000),
  status: numberReader('status', 400, 599),
  cut_after: numberReader('cutAfter', 0, 1_000_000),
  usage: readUsage,
};

function readDirective(content: string, draft: Draft, seen: Set<string>): string | null {
  const [, name, value] = /^(\w+)\s*=\s*(.*)$/s.exec(content) ?? [];
  if (name === undefined || value === undefined) return 'must have the form `sandbox: name=value`.';
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (!reader) return `is not known. The directives are ${Object.keys(readers).join(', ')}.`;
  if (name !== 'tool' && seen.has(name)) return `is the second one for \`${name}\`. Only \`tool\` may be given more than once.`;
  seen.add(name);
  return reader(value, draft);
}

function readTool(value: string, draft: Draft): string | null {
  const [, name, input] = /^(\S+)(?:\s+(.+))?$/s.exec(value) ?? [];
  if (name === undefined) return 'must name a tool: `sandbox: tool=get_weather {"city":"Paris"}`.';
  draft.toolCalls = [...draft.toolCalls, { name, input: input ?? null }];
  return null;
}

function readThink(value: string, draft: Draft): string | null {
  if (value === '') return 'must say what to think: `sandbox: think=The user wants the weather.`';
  draft.think = value;
  return null;
}

function readUsage(value: string, draft: Draft): string | null {
  if (value !== 'none') return 'knows one value: `sandbox: usage=none`.';
  draft.withoutUsage = true;
  return null;
}

function numberReader(field: 'tokens' | 'delayMs' | 'paceMs' | 'status' | 'cutAfter', min: number, max: number): Reader {
  return (value, draft) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : -1;
    if (number < min || number > max) return `needs a whole number from ${min} to ${max}.`;
    draft[field] = number;
    return null;
  };
}

function shorten(line: string): string {
  const characters = Array.from(line);
  return characters.length <= 80 ? line : `${characters.slice(0, 79).join('')}…`;
}
