// Malformed upstream streams, made from valid ones: events dropped, repeated, moved, cut and mixed,
// fields with arbitrary values, flipped bytes, and random streams.
import type { Random } from './random.ts';

/** One recorded event: its `event:` line, '' if none, and its data. */
export type WireEvent = { readonly event: string; readonly data: string };

/** Splits a recorded stream into its events. */
export function splitEvents(text: string): WireEvent[] {
  const blocks = text.split(/\r?\n\r?\n/).filter((block) => block.trim() !== '');
  return blocks.map((block) => {
    const lines = block.split(/\r?\n/);
    const valueOf = (name: string) =>
      lines
        .find((line) => line.startsWith(name))
        ?.slice(name.length)
        .trim() ?? '';
    return { event: valueOf('event:'), data: valueOf('data:') };
  });
}

/** Returns the bytes of a stream made from one of `streams`, with events of the others mixed in. */
export function makeMalformedStream(
  streams: readonly (readonly WireEvent[])[],
  random: Random,
): Buffer {
  let events = random.chance(0.03)
    ? inventStream(streams, random)
    : takePart(random.pick(streams), random);
  const changes = 1 + random.below(4);
  for (let change = 0; change < changes; change++) events = changeOrder(events, streams, random);
  if (random.chance(0.8)) events = changeFields(events, random);
  const bytes = Buffer.from(formatStream(events, random));
  if (random.chance(0.1)) flipBytes(bytes, random);
  return random.chance(0.1) ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes;
}

const eventsMax = 24;

/**
 * Shortens long streams, which repeat themselves, to their start, some of their middle and their
 * end.
 */
function takePart(stream: readonly WireEvent[], random: Random): WireEvent[] {
  if (stream.length <= eventsMax) return stream.slice();
  const start = 5 + random.below(stream.length - eventsMax);
  return [
    ...stream.slice(0, 5),
    ...stream.slice(start, start + eventsMax - 10),
    ...stream.slice(-5),
  ];
}

function inventStream(streams: readonly (readonly WireEvent[])[], random: Random): WireEvent[] {
  return Array.from({ length: random.below(12) }, () => {
    const { event, data } = random.pick(random.pick(streams));
    return random.chance(0.5)
      ? { event, data }
      : { event, data: writeJson(wildValue(random), random) };
  });
}

function changeOrder(
  events: WireEvent[],
  streams: readonly (readonly WireEvent[])[],
  random: Random,
): WireEvent[] {
  const at = random.below(events.length + 1);
  const to = random.below(events.length + 1);
  const [from, end] = [Math.min(at, to), Math.max(at, to)];
  switch (random.below(6)) {
    case 0:
      return events.toSpliced(at, 1);
    case 1:
      return events[at] ? events.toSpliced(to, 0, events[at]) : events;
    case 2:
      return events[at] ? events.toSpliced(at, 1).toSpliced(to, 0, events[at]) : events;
    case 3:
      return events.toSpliced(at, 0, random.pick(random.pick(streams)));
    case 4:
      return events.toSpliced(from, Math.min(end - from, 4));
    default:
      return random.chance(0.2) ? events.slice(0, at) : events;
  }
}

function changeFields(events: readonly WireEvent[], random: Random): WireEvent[] {
  const changed = events.slice();
  for (let count = 1 + random.below(3); count > 0 && changed.length > 0; count--) {
    const at = random.below(changed.length);
    changed[at] = changeEvent(changed[at]!, random);
  }
  return changed;
}

function changeEvent({ event, data }: WireEvent, random: Random): WireEvent {
  switch (random.below(12)) {
    case 0:
      return {
        event: random.pick(['', 'error', 'ping', 'message', 'response.completed', 'message_stop']),
        data,
      };
    case 1:
      return { event, data: data.slice(0, random.below(data.length + 1)) };
    case 2:
      return {
        event,
        data: random.pick([
          '[DONE]',
          '',
          '{',
          'null',
          '[]',
          '"text"',
          '{}',
          '{"error":"no"}',
          '{"error":{"message":7}}',
        ]),
      };
    default:
      return { event, data: changeJson(data, random) };
  }
}

function changeJson(data: string, random: Random): string {
  try {
    return writeJson(changeNode(JSON.parse(data), random), random);
  } catch {
    // No longer JSON, which the readers must handle.
    return data;
  }
}

/** Descends at random and replaces the value where it stops. */
function changeNode(node: unknown, random: Random): unknown {
  if (typeof node !== 'object' || node === null || random.chance(0.08))
    return changeLeaf(node, random);
  const keys = Object.keys(node);
  const key = keys[random.below(keys.length)];
  if (key === undefined) return changeLeaf(node, random);
  const child = (node as Record<string, unknown>)[key];
  if (Array.isArray(node))
    return random.chance(0.1)
      ? [...node, ...node]
      : node.with(Number(key), changeNode(child, random));
  const { [key]: _gone, ...rest } = node as Record<string, unknown>;
  return random.chance(0.1) ? rest : { ...node, [key]: changeNode(child, random) };
}

function changeLeaf(node: unknown, random: Random): unknown {
  if (typeof node === 'number' && random.chance(0.6))
    return random.pick([node + 1, node - 1, -node, node * 1e6, 0, 0.5, 2 ** 53]);
  if (typeof node === 'string' && random.chance(0.3)) return node.repeat(2);
  return wildValue(random);
}

const wildValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  'x',
  '\u0000\r\n\u2028',
  '\ud800',
  '}',
  '{"a":1}',
  'data: [DONE]\n\n',
  [],
  {},
  [null],
  [[]],
  { type: 'error' },
  { error: {} },
  { index: -1 },
  { ['__proto__']: 1, constructor: 2, toString: null },
];

function wildValue(random: Random): unknown {
  if (random.chance(0.002)) return 'long '.repeat(20_000);
  if (random.chance(0.002)) return nestMark;
  return random.pick(wildValues);
}

/** Stands for a value nested too deeply for V8 to write. */
const nestMark = 'nested here';

function writeJson(value: unknown, random: Random): string {
  const text = JSON.stringify(value);
  if (!text.includes(nestMark)) return text;
  const depth = random.pick([100, 5_000, 20_000]);
  return text.replaceAll(`"${nestMark}"`, () => '{"a":['.repeat(depth) + ']}'.repeat(depth));
}

const lineEnds = ['\n', '\r\n', '\r'];

function formatStream(events: readonly WireEvent[], random: Random): string {
  const lineEnd = random.chance(0.9) ? '\n' : random.pick(lineEnds);
  const comment = random.chance(0.1) ? `: comment${lineEnd}${lineEnd}` : '';
  const start = random.chance(0.02) ? '\ufeff' : '';
  return (
    start +
    events
      .map(({ event, data }) => {
        const name = event === '' ? '' : `event: ${event}${lineEnd}`;
        return `${comment}${name}data: ${data}${lineEnd}${lineEnd}`;
      })
      .join('')
  );
}

function flipBytes(bytes: Buffer, random: Random): void {
  for (let count = 1 + random.below(5); count > 0 && bytes.length > 0; count--)
    bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
}
