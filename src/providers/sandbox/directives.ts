// The directives of the last user message: what the sandbox's model says, and how it fails.
import {
  numberReader,
  readDirectiveLines,
  type Draft,
  type ReadLines,
  type Readers,
} from './directive-lines.ts';

export type Directives = {
  readonly toolCalls: readonly ToolDirective[];
  readonly think: string | null;
  /** The exact number of output tokens. */
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
/** `input`: the arguments as written, or null. */
export type ToolDirective = { readonly name: string; readonly input: string | null };

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

/** Reads all directives of a message. `malformed.message` tells the developer what to write. */
export function readDirectives(message: string): ReadLines<Directives> {
  return readDirectiveLines(message, { none: noDirectives, readers, repeatable: 'tool' });
}

const readers: Readers<Directives> = {
  tool: readTool,
  think: readThink,
  tokens: numberReader('tokens', 0, 10_000_000),
  delay_ms: numberReader('delayMs', 0, 600_000),
  pace_ms: numberReader('paceMs', 0, 60_000),
  status: numberReader('status', 400, 599),
  cut_after: numberReader('cutAfter', 0, 1_000_000),
  usage: readUsage,
};

/** Bounds the work of one message: each call makes up its arguments. */
const toolCallsMax = 100;

function readTool(value: string, draft: Draft<Directives>): string | null {
  if (draft.toolCalls.length === toolCallsMax)
    return `is one too many: a message may have ${toolCallsMax} tool calls.`;
  const [, name, input] = /^(\S+)(?:\s+(.+))?$/s.exec(value) ?? [];
  if (name === undefined) return 'must name a tool: `sandbox: tool=get_weather {"city":"Paris"}`.';
  draft.toolCalls = [...draft.toolCalls, { name, input: input ?? null }];
  return null;
}

function readThink(value: string, draft: Draft<Directives>): string | null {
  if (value === '') return 'must say what to think: `sandbox: think=The user wants the weather.`';
  draft.think = value;
  return null;
}

function readUsage(value: string, draft: Draft<Directives>): string | null {
  if (value !== 'none') return 'knows one value: `sandbox: usage=none`.';
  draft.withoutUsage = true;
  return null;
}
