// Upstream streams whose events are alike, as those of a real answer, with all that can differ
// between them: texts, fields in the middle of the stream, and the spelling of the JSON.
import type { Random } from './random.ts';
import type { WireEvent } from './malformed-streams.ts';

/** Repeats events of a stream with other texts, spellings and fields. */
export function makeSimilarStream(stream: readonly WireEvent[], random: Random): WireEvent[] {
  const spell = spellingOf(random);
  return stream.flatMap((event) => {
    const parsed = parse(event.data);
    if (parsed === undefined || random.chance(0.1)) return [event];
    // Some fields stay for a while.
    const value = changeFields(parsed, random);
    const count = random.chance(0.4) ? 1 : random.below(6);
    return Array.from({ length: count }, () => ({
      event: random.chance(0.005) ? 'error' : event.event,
      data: respell(spell(changeFields(changeTexts(value, random), random)), random),
    }));
  });
}

const texts = [
  '',
  ' word',
  ' word',
  'a',
  'stop',
  'assistant',
  'text 0 of a chunk',
  'text 1 of a chunk',
  'content',
  '"',
  '\\',
  '\\"',
  '","content":"',
  '"}}]}',
  '\n',
  '\u0000',
  '\u2028',
  'é',
  '日本',
  '🙂',
  '\ud83d',
  '\ude42',
  '{"a',
  '":1}',
  '[DONE]',
  '<think>',
  '</think>',
  'the the',
];

const textNames = /^(content|reasoning|reasoning_content|arguments|obfuscation|text|thinking)$/;

/** Often gives two fields the same text. */
function changeTexts(value: unknown, random: Random): unknown {
  const common = random.pick(texts);
  return mapFields(value, (name, field) =>
    typeof field === 'string' && textNames.test(name)
      ? random.chance(0.3)
        ? common
        : random.pick(texts)
      : field,
  );
}

const changes: readonly ((random: Random) => object)[] = [
  () => ({ id: 'another' }),
  () => ({ model: 'another' }),
  () => ({ created: 1e15 }),
  () => ({ system_fingerprint: null }),
  () => ({ service_tier: 'default' }),
  (random) => ({ obfuscation: random.pick(texts) }),
  (random) => ({ note: random.pick(texts) }),
  () => ({ usage: null }),
  () => ({ error: null }),
  (random) => ({ error: random.pick([{ code: 429 }, 'x', {}, false]) }),
  () => ({ choices: [] }),
  () => ({ choices: null }),
  () => ({ prompt_filter_results: [] }),
  (random) => ({ usage: { prompt_tokens: 9, completion_tokens: random.below(9) } }),
  () => ({ ['__proto__']: { content: 'x' }, toJSON: 1, 7: 'x' }),
];

/** Of the chunk's first choice, or of its delta. */
const choiceChanges: readonly ((random: Random) => object)[] = [
  () => ({ index: 1 }),
  () => ({ index: null }),
  (random) => ({ finish_reason: random.pick(['stop', 'length', 'content_filter', 'error', '']) }),
  () => ({ finish_reason: undefined }),
  () => ({ content_filter_results: { hate: { filtered: false } } }),
  (random) => ({ message: { role: 'assistant', content: random.pick(texts) } }),
  (random) => ({ delta: random.pick([null, {}, 'x', { content: '' }]) }),
  () => ({ usage: { prompt_tokens: 3, completion_tokens: 4 } }),
  () => ({ logprobs: null }),
];
const deltaChanges: readonly ((random: Random) => object)[] = [
  () => ({ role: null }),
  () => ({ role: 'assistant' }),
  () => ({ content: null }),
  (random) => ({ content: random.pick(texts) }),
  (random) => ({ reasoning: random.pick(texts) }),
  (random) => ({ reasoning_content: random.pick(texts) }),
  (random) => ({ refusal: random.pick(texts) }),
  (random) => ({ tool_calls: [call(random)] }),
  (random) => ({ tool_calls: [call(random), call(random)] }),
  () => ({ tool_calls: [] }),
  (random) => ({ function_call: random.pick([null, {}, { name: 'get', arguments: '{' }]) }),
  (random) => ({ content: [{ type: 'text', text: random.pick(texts) }] }),
  (random) => ({ reasoning_details: [{ type: 'reasoning.text', text: random.pick(texts) }] }),
  () => ({ images: [{ image_url: { url: 'data:image/png;base64,aWlp' } }] }),
  () => ({ annotations: [] }),
];

function call(random: Random): object {
  return {
    ...(random.chance(0.7) && { index: random.below(3) }),
    ...(random.chance(0.3) && { id: random.pick(['call_1', 'call_2', '']) }),
    function: {
      ...(random.chance(0.4) && { name: random.pick(['get', 'set']) }),
      arguments: random.chance(0.1) ? { a: 1 } : random.pick(texts),
    },
  };
}

function changeFields(value: unknown, random: Random): unknown {
  const added = (list: typeof changes) => (random.chance(0.08) ? random.pick(list)(random) : {});
  const changed = mapFields(value, (name, field) => {
    if (name === 'delta')
      return isObject(field) ? merge(field, added(deltaChanges), random) : field;
    if (name !== 'choices' || !Array.isArray(field)) return field;
    const choices = field.map((choice: unknown) =>
      isObject(choice) ? merge(choice, added(choiceChanges), random) : choice,
    );
    return random.chance(0.03) ? [...choices, ...choices.map(asSecond)] : choices;
  });
  return isObject(changed) ? merge(changed, added(changes), random) : changed;
}

/** Its text stays the same. */
function asSecond(choice: unknown): unknown {
  return isObject(choice) ? { ...choice, index: 1, delta: { refusal: 'no' } } : choice;
}

/** Adds fields before or after the others. */
function merge(one: object, other: object, random: Random): object {
  return random.chance(0.5) ? { ...one, ...other } : { ...other, ...one, ...other };
}

/** The spelling of a whole stream: each host has one. */
function spellingOf(random: Random): (value: unknown) => string {
  const space = random.chance(0.2);
  const reversed = random.chance(0.2);
  return (value) => {
    const ordered = reversed ? reverseFields(value) : value;
    return space ? JSON.stringify(ordered, null, 1).replace(/\n */g, ' ') : JSON.stringify(ordered);
  };
}

/** Writes some JSON in another way; seldom, the result is no JSON. */
function respell(json: string, random: Random): string {
  switch (random.below(30)) {
    case 0:
      return json.replace(/[ea]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
    case 1:
      return json.replace(/"(content|reasoning|arguments|text|index)":/, (name) =>
        random.pick([`${name}"first",${name}`, `${name}"first","x":1,${name}`]),
      );
    case 2:
      return json.replace(/:(\d)([,}])/, (_all, digit: string, end: string) =>
        random.pick([
          `:${digit}.0${end}`,
          `:${digit}e0${end}`,
          `:-${digit}${end}`,
          `:0${digit}${end}`,
        ]),
      );
    case 3:
      return json.replace(/([{,:[])"/, '$1 "');
    case 4: {
      const at = random.below(json.length + 1);
      const added = random.pick(['"', '\\', ',', '}', ' ', 'x', '\u0000', '']);
      return json.slice(0, at) + added + json.slice(at + random.below(3));
    }
    default:
      return json;
  }
}

type MapField = (name: string, field: unknown) => unknown;

/** Maps every field at any depth, inner ones first. */
function mapFields(value: unknown, map: MapField): unknown {
  if (Array.isArray(value)) return value.map((item) => mapFields(item, map));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, map(name, mapFields(field, map))]),
  );
}

function reverseFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseFields);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, field]) => [name, reverseFields(field)] as const)
      .toReversed(),
  );
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
