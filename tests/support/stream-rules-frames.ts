// The frames of a client's stream, read strictly: one function writes all of ours, so any oddity is
// a bug.
import assert from 'node:assert/strict';

export type ClientFrame =
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'event'; readonly event: string | null; readonly data: string };
export type EventFrame = Extract<ClientFrame, { kind: 'event' }>;

/** JSON from a stream, untyped. */
export type Json = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- what a client reads has no type

/**
 * Requires complete UTF-8, a complete last frame, and in each frame one comment line, or at most
 * one `event:` and one `data:` line.
 */
export function readClientFrames(bytes: string | Uint8Array): ClientFrame[] {
  const text =
    typeof bytes === 'string'
      ? bytes
      : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  assert.ok(!text.includes('\r'), 'lines end with a line feed alone');
  if (text === '') return [];
  assert.ok(text.endsWith('\n\n'), `the last frame is cut off: ${text.slice(-200)}`);
  return text.slice(0, -2).split('\n\n').map(readFrame);
}

function readFrame(block: string): ClientFrame {
  const lines = block.split('\n');
  if (lines.length === 1 && block.startsWith(':'))
    return { kind: 'comment', text: block.slice(1).trim() };
  const event = lines[0]?.startsWith('event: ') ? lines.shift()!.slice('event: '.length) : null;
  const [data = '', ...more] = lines;
  assert.ok(data.startsWith('data: '), `no data in a frame: ${block.slice(0, 200)}`);
  assert.deepEqual(more, [], `a frame has one line of data: ${block.slice(0, 200)}`);
  return { kind: 'event', event, data: data.slice('data: '.length) };
}

/** An event's data, which must be a JSON object. */
export function readJson({ data }: EventFrame): Json {
  const value: unknown = JSON.parse(data);
  assert.ok(
    typeof value === 'object' && value !== null && !Array.isArray(value),
    `no object: ${data.slice(0, 200)}`,
  );
  return value;
}

/** The error at the end of a stream: one of our codes and a meaningful message. */
export function checkError(error: unknown, where: string): void {
  const { code, message } = (error ?? {}) as Json;
  assert.ok(typeof code === 'string' && code !== '', `${where}: the error has a code`);
  assert.ok(
    typeof message === 'string' && message.length > 10,
    `${where}: the error has a message`,
  );
}

/** A success ends with usage that has our cost in dollars. No usage shows a provider's price. */
export function checkCost(usage: Json): void {
  assert.deepEqual(
    Object.keys(usage).filter((name) => /cost/i.test(name) && name !== 'cost'),
    [],
    'a usage tells no cost but ours',
  );
  assert.ok(
    typeof usage['cost'] === 'number' && usage['cost'] >= 0,
    'the last usage tells its cost',
  );
}
