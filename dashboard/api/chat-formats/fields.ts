// Reads fields of answers, which may have any shape, and writes what the formats have in common.
import type { Answer, Attachment, Json, ToolCall } from './types.ts';

export function fieldsOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

export type Ending = Pick<Answer, 'stop' | 'inputTokens' | 'outputTokens' | 'costMicros' | 'error'>;

export function tokensOf(input: unknown, output: unknown): Ending {
  return {
    ...(typeof input === 'number' && { inputTokens: input }),
    ...(typeof output === 'number' && { outputTokens: output }),
  };
}

/** The gateway reports dollars. */
export function costOf(usage: unknown): Ending {
  const { cost } = fieldsOf(usage);
  return typeof cost === 'number' ? { costMicros: Math.round(cost * 1_000_000) } : {};
}

export function stopOf(value: unknown): Ending {
  return typeof value === 'string' ? { stop: value } : {};
}

/** All formats describe errors alike: a code or type, and a message. Gemini's has the code in its details. */
export function errorOf(value: unknown): { readonly code: string; readonly message: string } {
  const { code, type, message, details } = fieldsOf(value);
  const { reason } = fieldsOf(listOf(details)[0]);
  return {
    code: textOf(code) || textOf(type) || textOf(reason).toLowerCase() || 'unknown',
    message: textOf(message) || 'The answer ended early.',
  };
}

/** Appends a piece of the arguments to the last call. */
export function appendArguments(calls: readonly ToolCall[], piece: string): readonly ToolCall[] {
  const last = calls.at(-1);
  return last ? [...calls.slice(0, -1), { ...last, arguments: last.arguments + piece }] : calls;
}

/** Returns the arguments as an object; empty when the model wrote none, or no valid JSON. */
export function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Returns null for what is no object in JSON. */
export function parseObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? (value as Json | null) : null;
  } catch {
    return null;
  }
}

/** Returns a text file as text of the message, with its name. */
export function fileText({ name, text }: Extract<Attachment, { kind: 'text' }>): string {
  return `<file name="${name}">\n${text}\n</file>`;
}

export function dataUrl({
  mediaType,
  data,
}: {
  readonly mediaType: string;
  readonly data: string;
}): string {
  return `data:${mediaType};base64,${data}`;
}
