import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../../tests/support/canonical/answers.ts';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { dropEcho, withoutEcho } from './drop-echo.ts';

test('a stream in any pieces loses the echo and nothing else, as a whole answer does', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '{'), maxLength: 5 });
  fc.assert(
    fc.property(letters, letters, letters, fc.boolean(), (echo, own, later, isEchoed) => {
      const texts = [(isEchoed ? echo : '') + own, echo + later];
      const whole = withoutEcho(answerOf(texts.map(textPart), { usage: null }), echo);
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
      assert.deepEqual(shown.map(textPart), whole.content);
      const isDropped = texts[0]!.startsWith(echo);
      assert.deepEqual(shown, [isDropped ? texts[0]!.slice(echo.length) : texts[0], texts[1]]);
      assert.equal(dropped, isDropped ? echo : '');
    }),
  );
});
