import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import fc from '../../tests/support/property.ts';
import { formatSse, SseOverflow, SseParser, type SseEvent } from './sse.ts';

function parse(pieces: readonly Uint8Array[]): SseEvent[] {
  const parser = new SseParser();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].toSorted(
    (a, b) => a - b,
  );
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

const streamText = fc
  .array(
    fc.constantFrom(
      'data: {"a":1}',
      'data:x',
      'data',
      'event: ping',
      'event:é',
      ': comment',
      'id: 7',
      'retry: 10',
      '',
      'data: 🙂 日本',
      'nonsense',
    ),
    { maxLength: 30 },
  )
  .chain((lines) =>
    fc
      .array(fc.constantFrom('\n', '\r\n', '\r'), {
        minLength: lines.length,
        maxLength: lines.length,
      })
      .map((ends) => lines.map((line, index) => line + ends[index]).join('')),
  );

test('any split of the bytes gives the same events', () => {
  fc.assert(
    fc.property(
      streamText,
      fc.array(fc.nat(), { maxLength: 12 }),
      fc.boolean(),
      (text, cuts, withMark) => {
        const bytes = Buffer.from((withMark ? '\uFEFF' : '') + text);
        assert.deepEqual(parse(split(bytes, cuts)), parse([bytes]));
      },
    ),
    { numRuns: 2000 },
  );
});

test('every kind of line end, and a byte order mark, are understood', () => {
  const expected = [
    { event: 'a', data: '1\n2' },
    { event: '', data: '3' },
  ];
  for (const end of ['\n', '\r\n', '\r']) {
    const text = ['\uFEFFevent: a', 'data: 1', 'data:2', '', ': comment', 'data: 3', '', ''].join(
      end,
    );
    assert.deepEqual(parse([Buffer.from(text)]), expected);
  }
});

test('formatted events are parsed back unchanged', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ event: fc.stringMatching(/^[a-z._]{0,20}$/), data: fc.json() })),
      (events) => {
        const text = events
          .map(({ event, data }) => formatSse(event === '' ? null : event, data))
          .join('');
        assert.deepEqual(
          parse([Buffer.from(text)]),
          events.map((event) => ({ ...event })),
        );
      },
    ),
  );
});

test('an event without data, or with empty data, is none', () => {
  const text = 'event: ping\ndata:\n\ndata\n\nevent: a\n\ndata: 1\n\n';
  assert.deepEqual(parse([Buffer.from(text)]), [{ event: '', data: '1' }]);
});

test('an event without its blank line is returned at the end of the stream', () => {
  assert.deepEqual(parse([Buffer.from('data: [DONE]')]), [{ event: '', data: '[DONE]' }]);
});

test('a stream without line ends is refused before it fills the memory', () => {
  const parser = new SseParser();
  const piece = Buffer.alloc(1024 * 1024, 'x');
  assert.throws(() => {
    for (let index = 0; index < 40; index++) parser.push(piece);
  }, SseOverflow);
});

test('line ends of one kind are read in linear time when the other kind follows or is missing', () => {
  const count = 512 * 1024;
  for (const text of [`${'\n'.repeat(count)}\r`, '\r'.repeat(count), `${'\r'.repeat(count)}x\n`])
    assert.ok(cpuMsOf(() => parse([Buffer.from(text)])) < 1_500);
});
