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
      let dropped = '';
      const drop = (event: StreamEvent) => {
        if (event.type === 'text-delta') dropped += event.text;
      };
      const step = dropEcho(echo, drop);
      const shown = texts.map((text) => {
        const deltas = text
          .split('')
          .map((piece) => ({ type: 'text-delta', text: piece }) as const);
        const events: readonly StreamEvent[] = [
          { type: 'text-start' },
          ...deltas,
          { type: 'text-end' },
        ];
        return events
          .flatMap(step)
          .map((event) => (event.type === 'text-delta' ? event.text : ''))
          .join('');
      });
      const isDropped = texts[0]!.startsWith(echo);
      assert.deepEqual(shown, [isDropped ? texts[0]!.slice(echo.length) : texts[0], texts[1]]);
      assert.equal(dropped, isDropped ? echo : '');
    }),
  );
});
