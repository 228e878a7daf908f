import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { loadRecordings } from '../../../tests/support/recordings.ts';
import { isObject } from '../../lib/json.ts';
import { SseParser } from '../../lib/sse.ts';
import { parseEventData } from '../event-data.ts';
import { SimilarChunks } from './similar-chunks.ts';

/** Parses and writes each chunk, and compares it with what JSON alone gives. */
function checkAll(datas: readonly string[]): { written: number } {
  const chunks = new SimilarChunks();
  let written = 0;
  for (const data of datas) {
    const expected = parseEventData(data);
    const chunk = chunks.parse(data);
    assert.equal(JSON.stringify(chunk), JSON.stringify(expected), data);
    if (!isObject(chunk) || !isObject(expected)) continue;
    const write = (from: object) => `${JSON.stringify({ ...from, model: 'ours' })}\n`;
    const text = chunks.write(chunk, () => {
      written++;
      return write(chunk);
    });
    assert.equal(text, write(expected));
  }
  return { written };
}

function chunkOf(delta: object, more: object = {}, choice: object = {}): object {
  return { id: 'x', choices: [{ index: 0, delta, finish_reason: null, ...choice }], ...more };
}

for (const { file, bytes } of loadRecordings().filter(
  ({ format, stream }) => format === 'chat' && stream,
)) {
  test(`${file}: every chunk is read and written as JSON does`, () => {
    const parser = new SseParser();
    checkAll([...parser.push(bytes), ...parser.end()].map(({ data }) => data));
  });
}

const text = fc.oneof(
  fc.constantFrom('', ' word', '"', '\\', '\n', ',', ':', 'x', 'assistant', 'text 0 of a chunk'),
  fc.string({ unit: 'binary' }),
);
const delta = fc.oneof(
  fc.record({ content: text }),
  fc.record({ content: text, role: fc.constant('assistant') }),
  fc.record({ content: fc.constant(''), reasoning: text }),
  fc.record({ content: fc.constant(null), reasoning_content: text }),
  fc.record({ content: text, reasoning: text, refusal: fc.constant(null) }),
  fc.record({ content: text, tool_calls: fc.constantFrom(null, [], [{ index: 0 }]) }),
  fc.record({ tool_calls: fc.array(fc.record({ function: fc.record({ arguments: text }) })) }),
);
const more = fc.oneof(
  fc.constant({}),
  fc.record({ obfuscation: text }),
  fc.record({ usage: fc.constantFrom(null, { prompt_tokens: 1 }), obfuscation: text }),
  fc.record({ note: text }),
);

function fill(someDelta: object, content: string): object {
  if ('reasoning' in someDelta) return { reasoning: content };
  if ('content' in someDelta) return { content };
  return { tool_calls: [{ index: 0, function: { arguments: content } }] };
}

const choice = fc.constantFrom({}, {}, { finish_reason: 'stop' }, { index: 1 });
const kind = fc.tuple(delta, more, choice);

test('chunks of any texts are read and written as JSON does, also those that are no JSON', () => {
  const edit = fc.tuple(
    fc.nat(),
    fc.nat({ max: 2 }),
    fc.constantFrom('"', '\\', ',', '}', ' ', 'x', '\n'),
  );
  const run = fc.tuple(kind, fc.array(text, { minLength: 1, maxLength: 6 }), fc.option(edit));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 6 }), fc.boolean(), (runs, isSpaced) => {
      const datas = runs.flatMap(([[someDelta, someMore, someChoice], texts, someEdit]) =>
        texts.map((content, index) => {
          const filled = fill(someDelta, content);
          const chunk = chunkOf({ ...someDelta, ...filled }, someMore, someChoice);
          const data = JSON.stringify(chunk, null, isSpaced ? ' ' : '').replaceAll('\n', ' ');
          if (!someEdit || index === 0) return data;
          const at = someEdit[0] % data.length;
          return data.slice(0, at) + someEdit[2] + data.slice(at + someEdit[1]);
        }),
      );
      checkAll(datas);
    }),
    { numRuns: 3_000 },
  );
});

test('of chunks that differ in their texts, only the first two are written anew', () => {
  const texts = [' a', ' b', ' "c"', '\n', 'é', '🙂', ' d'];
  const obfuscated = texts.map((content) => chunkOf({ content }, { obfuscation: `${content}x` }));
  const reasoned = texts.map((reasoning) => chunkOf({ content: '', reasoning }));
  const called = texts.map((args) =>
    chunkOf({ tool_calls: [{ index: 0, function: { arguments: args } }] }),
  );
  for (const chunks of [obfuscated, reasoned, called])
    assert.equal(checkAll(chunks.map((chunk) => JSON.stringify(chunk))).written, 2);
});

test('the arguments of each of many calls are written from their own template', () => {
  const pieces = Array.from({ length: 20 }, (_, index) =>
    ['{"a', 'b', 'c', 'd', 'e"}'].map((args) =>
      chunkOf({ tool_calls: [{ index, function: { arguments: args } }] }),
    ),
  ).flat();
  assert.equal(checkAll(pieces.map((chunk) => JSON.stringify(chunk))).written, 2 * 20);
});

test('a chunk with many texts gets no template, which would cost more than it saves', () => {
  const chunk = chunkOf({
    tool_calls: Array.from({ length: 9 }, (_, index) => ({ index, function: { arguments: 'a' } })),
  });
  assert.equal(checkAll(Array<string>(5).fill(JSON.stringify(chunk))).written, 5);
});

test('a text that is also elsewhere in its chunk is not mixed up with it', () => {
  const repeats = [
    (content: string) => chunkOf({ role: content, content }),
    (content: string) => chunkOf({ content }, { note: content }),
    (content: string) => ({ note: content, ...chunkOf({ content }) }),
    (content: string) => chunkOf({ content: `"${content}` }, { note: 'text 0 of a chunk' }),
  ];
  for (const repeat of repeats)
    checkAll(['a', 'b', 'c', 'c', 'a'].map((content) => JSON.stringify(repeat(content))));
});

test('a text that is a mark of ours is read and written like any other', () => {
  const marked = (content: string, note: string) =>
    `{"choices":[{"delta":{"content":"${content}"}}],"note":"${note}"}`;
  for (const mark of ['text 0 of a chunk', 'text 1 of a chunk'])
    for (const content of [mark, mark.replace(' ', '\\u0020')])
      checkAll([marked(content, mark), marked(content, 'b'), marked(content, 'c')]);
});

test('a repeated name counts as its last value', () => {
  const moved = (content: string, last: string) =>
    `{"choices":[{"delta":{"reasoning":"first","content":"${content}","reasoning":"${last}"}}]}`;
  checkAll([moved('a', 'b'), moved('c', 'd'), moved('e', 'f')]);

  const double = (first: string, last: string) =>
    `{"choices":[{"delta":{"content":"${first}","content":"${last}"}}]}`;
  checkAll([
    double('a', 'b'),
    double('a', 'c'),
    double('d', 'c'),
    double('a', 'a'),
    double('b', 'a'),
  ]);
});
