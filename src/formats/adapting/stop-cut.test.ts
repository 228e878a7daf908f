import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import fc from '../../../tests/support/property.ts';
import { AnswerCollector, type Answer } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { searchedStops, StopSearch, StreamCut } from './stop-cut.ts';
import { noUsage } from '../../canonical/usage.ts';

/**
 * Few letters, so that sequences occur, overlap and almost occur; and characters of two code units
 * that share one of them.
 */
const letter = fc.constantFrom('a', 'b', '\n', '😀', '😃', 'é');
const words = (max: number) =>
  fc.array(letter, { maxLength: max }).map((letters) => letters.join(''));
const stops = fc.array(
  words(5).filter((word) => word !== ''),
  { minLength: 1, maxLength: 4 },
);

/** Cuts by brute force: tries every end, the shortest text first. */
function cutPlainly(
  text: string,
  sequences: readonly string[],
): { shown: string; sequence: string | null } {
  for (let end = 1; end <= text.length; end++) {
    const [sequence] = sequences
      .filter((stop) => text.slice(0, end).endsWith(stop))
      .toSorted((a, b) => b.length - a.length);
    if (sequence !== undefined) return { shown: text.slice(0, end - sequence.length), sequence };
  }
  return { shown: text, sequence: null };
}

/** Splits by code unit, so that pieces also end inside a character. */
function split(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [0, ...ends].map((start, index) => text.slice(start, ends[index] ?? text.length));
}

describe('a cut text', () => {
  test('is the same however it is split, and ends before the first completed sequence', () => {
    fc.assert(
      fc.property(words(30), stops, fc.array(fc.nat()), (text, sequences, places) => {
        const search = new StopSearch(sequences);
        const heldMax = Math.max(...sequences.map(({ length }) => length)) - 1;
        let [shown, seen, sequence]: [string, number, string | null] = ['', 0, null];
        for (const piece of split(text, places)) {
          const cut = search.push(piece);
          shown += cut.shown;
          seen += piece.length;
          if (cut.found) {
            sequence = cut.found.sequence;
            assert.equal(
              shown + cut.found.rest,
              text.slice(0, seen),
              'nothing that was generated is lost to the count',
            );
            break;
          }
          assert.ok(
            seen - shown.length <= heldMax,
            'no more is held back than could be a beginning',
          );
        }
        if (sequence === null) shown += search.end();
        assert.deepEqual({ shown, sequence }, cutPlainly(text, sequences));
        assert.ok(shown.isWellFormed());
      }),
      { numRuns: 2_000 },
    );
  });

  test('holds back at most 999 characters for a sequence of a thousand', () => {
    const search = new StopSearch([`${'a'.repeat(999)}b`]);
    const length = 3_000;
    let shown = 0;
    for (let index = 0; index < length; index++) shown += search.push('a').shown.length;
    assert.equal(shown, length - 999);
  });

  test('is not searched for half characters or empty sequences; too many are refused by the name of the field', () => {
    assert.deepEqual(searchedStops(['', '\ude00', 'END']), ['END']);
    for (const many of [Array.from({ length: 65 }, String), ['x'.repeat(1_001)]]) {
      assertRefused(() => searchedStops(many), 'stop');
    }
  });
});

type Part = { readonly type: 'text' | 'thinking' | 'call'; readonly text: string };
const parts: fc.Arbitrary<Part[]> = fc.array(
  fc.record({ type: fc.constantFrom('text', 'text', 'thinking', 'call'), text: words(12) }),
  { maxLength: 5 },
);
const usage = { ...noUsage, inputTokens: 3, outputTokens: 2 };

function eventsOf(content: readonly Part[], places: readonly number[]): StreamEvent[] {
  const blocks = content.flatMap(({ type, text }): StreamEvent[] => {
    const pieces = split(text, places).filter((piece) => piece !== '');
    if (type === 'text') {
      return [
        { type: 'text-start' },
        ...pieces.map((piece) => ({ type: 'text-delta' as const, text: piece })),
        { type: 'text-end' },
      ];
    }
    if (type === 'thinking') {
      const deltas = pieces.map((piece) => ({ type: 'thinking-delta' as const, text: piece }));
      return [{ type: 'thinking-start', redacted: false }, ...deltas, { type: 'thinking-end' }];
    }
    const deltas = pieces.map((piece) => ({ type: 'tool-call-delta' as const, text: piece }));
    return [
      { type: 'tool-call-start', id: 'c', name: 'f', kind: 'function' },
      ...deltas,
      { type: 'tool-call-end' },
    ];
  });
  return [
    { type: 'start', usage: null },
    ...blocks,
    { type: 'finish', stop: { reason: 'end', sequence: null }, usage },
  ];
}

function collect(events: readonly StreamEvent[]): Answer {
  const collector = new AnswerCollector();
  for (const event of events) collector.push(event);
  return collector.answer!;
}

test('an answer is cut in its blocks: reasoning and arguments are not searched, and the usage is kept', () => {
  fc.assert(
    fc.property(parts, stops, fc.array(fc.nat()), (content, sequences, places) => {
      const events = eventsOf(content, places);
      const dropped: StreamEvent[] = [];
      const cut = new StreamCut(sequences, (event) => dropped.push(event));
      const shown = events.flatMap((event) => cut.push(event));
      const answer = collect(shown);
      assert.equal(answer.usage, usage);
      assert.deepEqual(answer.stop, cut.stop ?? collect(events).stop);
      const count = (type: string) => shown.filter((event) => event.type === type).length;
      for (const block of ['text', 'thinking', 'tool-call'])
        assert.equal(count(`${block}-start`), count(`${block}-end`));
      const first = content.find(
        ({ type, text }) => type === 'text' && cutPlainly(text, sequences).sequence !== null,
      );
      assert.equal(
        cut.stop?.sequence ?? null,
        first ? cutPlainly(first.text, sequences).sequence : null,
      );
      const bytes = (all: readonly StreamEvent[]) =>
        all.map((event) => ('text' in event ? event.text : '')).join('').length;
      assert.equal(
        bytes(shown) + bytes(dropped),
        bytes(events),
        'what is shown or dropped is all that was generated',
      );
    }),
    { numRuns: 1_000 },
  );
});
