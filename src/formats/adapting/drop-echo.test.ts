import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { dropEcho } from './drop-echo.ts';

test('an answer in any pieces loses the echo and nothing else', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '{'), maxLength: 5 });
  fc.assert(
    fc.property(letters, letters, letters, fc.boolean(), (echo, own, later, isEchoed) => {
      const texts = [(isEchoed ? echo : '') + own, echo + later];
      const step = dropEcho(echo);
      const shown = texts.map((text) => {
        const deltas = text
          .split('')
          .map((piece) => ({ type: 'text-delta', text: piece }) as const);
        const events: readonly StreamEvent[] = [
          { type: 'text-start' },
          ...deltas,
          { type: 'text-end' },
        ];
        return events.flatMap(step);
      });
      const blocks = shown.filter((events) => events.length > 0);
      for (const events of blocks) {
        assert.equal(events[0]!.type, 'text-start');
        assert.equal(events.at(-1)!.type, 'text-end');
      }
      const textIn = (events: readonly StreamEvent[]) =>
        events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
      const isDropped = texts[0]!.startsWith(echo);
      const isEmpty = isDropped && own === '' && isEchoed && echo !== '';
      assert.equal(textIn(shown[0]!), isDropped ? texts[0]!.slice(echo.length) : texts[0]);
      assert.equal(textIn(shown[1]!), texts[1]);
      if (isEmpty) assert.equal(blocks.length, 1, 'an empty block is shown');
    }),
  );
});
