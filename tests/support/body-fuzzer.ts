// Malformed request bodies: rich ones with a few fields changed, the same with corrupted bytes, and
// random bytes. A run uses up to a million, so this is not fast-check: the seed and a body's number
// reproduce it.
import type { UpstreamWireName } from './answers.ts';
import { oddNames, oddNumbers, oddSchemas, oddTexts, fieldsOf, setOwnField } from './odd-values.ts';
import type { Random } from './random.ts';
import { richBodies, type Json } from './rich-bodies.ts';

export function fuzzedBody(wire: UpstreamWireName, random: Random): Buffer {
  if (random.chance(0.05)) return randomBytes(random);
  const text = Buffer.from(spoilText(JSON.stringify(mutatedBody(wire, random)), random));
  return random.chance(0.3) ? spoilBytes(text, random) : text;
}

function mutatedBody(wire: UpstreamWireName, random: Random): object {
  const body = structuredClone(richBodies[wire]) as Record<string, Json>;
  if (random.chance(0.3)) body['stream'] = true;
  if (random.chance(0.2)) body['model'] = wire === 'messages' ? 'gpt-6-luna' : 'claude-haiku-4-5';
  for (let steps = random.below(4); steps > 0; steps--) mutate(body, random);
  return body;
}

function mutate(body: object, random: Random): void {
  const places = fieldsOf(body);
  if (places.length === 0) return;
  const [parent, field] = random.pick(places);
  const value = structuredClone(oddValue(random));
  switch (random.below(5)) {
    case 0:
      return void Reflect.deleteProperty(parent, field);
    case 1:
      return setOwnField(
        parent,
        Array.isArray(parent) ? String(parent.length) : random.pick(oddNames),
        value,
      );
    case 2:
      return setOwnField(parent, field, [parent[field], parent[field]]);
    case 3:
      return setOwnField(parent, field, nested(parent[field], random.below(80)));
    default:
      return setOwnField(parent, field, value);
  }
}

function oddValue(random: Random): Json {
  const kinds: readonly (() => Json)[] = [
    () => random.pick([null, true, false, [], {}, [[]], [null], [{}]]),
    () => random.pick(oddNumbers),
    () => random.pick(oddTexts),
    () => random.pick(oddSchemas),
    () =>
      String.fromCharCode(...Array.from({ length: random.below(20) }, () => random.below(65_536))),
    () => (random.chance(0.02) ? 'giant '.repeat(50_000) : 'long '.repeat(200)),
    () =>
      Array.from({ length: random.below(60) }, () => ({
        role: 'user',
        type: 'message',
        content: 'Hi',
      })),
  ];
  return random.pick(kinds)();
}

function nested(value: unknown, depth: number): unknown {
  let outer = value;
  for (let level = 0; level < depth; level++) outer = level % 2 === 0 ? [outer] : { x: outer };
  return outer;
}

const textSpoilings: readonly ((text: string, random: Random) => string)[] = [
  (text, random) => text.slice(0, random.below(text.length)),
  (text) => `\ufeff${text}`,
  (text) => `[${text}]`,
  (text) => text + text,
  (text) => text.replace('{', '{"__proto__":{"stream":true,"n":9},'),
  (text) => text.replace('"model"', '"model":"nope","model"'),
  (text) => text.replace(/:\d+/, ':1e999'),
  (text) => text.replace(/:\d+/, `:${'9'.repeat(400)}`),
  (text) => text.replace(/"(?=[A-Z])/, '"\\ud800'),
  (text, random) => text.replace(':', `:${'['.repeat(random.below(20_000))}`),
  (text) => text.replaceAll('"', "'"),
];

function spoilText(text: string, random: Random): string {
  return random.chance(0.15) ? random.pick(textSpoilings)(text, random) : text;
}

/** Flips, removes, repeats or inserts a few bytes. */
function spoilBytes(bytes: Buffer, random: Random): Buffer {
  if (bytes.length === 0) return bytes;
  const start = random.below(bytes.length);
  const end = Math.min(bytes.length, start + 1 + random.below(30));
  const [before, piece, rest] = [
    bytes.subarray(0, start),
    bytes.subarray(start, end),
    bytes.subarray(end),
  ];
  switch (random.below(4)) {
    case 0:
      return Buffer.concat([before, rest]);
    case 1:
      return Buffer.concat([before, piece, piece, rest]);
    case 2:
      return Buffer.concat([before, randomBytes(random, 30), piece, rest]);
    default:
      return Buffer.concat([before, piece.map((byte) => byte ^ (1 << random.below(8))), rest]);
  }
}

function randomBytes(random: Random, most = 300): Buffer {
  return Buffer.from(Array.from({ length: random.below(most) }, () => random.below(256)));
}
