import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../tests/support/canonical/answers.ts';
import { callPart, pageCitation, textPart } from '../../tests/support/canonical/parts.ts';
import fc from '../../tests/support/property.ts';
import { countOutputBytes } from '../canonical/output-bytes.ts';
import { translateAnswer } from './translate.ts';

const words = fc.string({
  unit: fc.constantFrom('a', 'é', '😀', '{', '"', '}', ' '),
  maxLength: 8,
});

test('all that a whole answer holds but an echo is counted, whatever the gateway shows of it', () => {
  const emulations = fc.record(
    {
      stopSequences: fc.array(fc.constantFrom('a', 'é{', '}'), { maxLength: 2 }),
      jsonObject: fc.constant(true as const),
      echo: words,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 4 }), emulations, (texts, emulated) => {
      const answer = answerOf([
        ...texts.map((text) => textPart(text)),
        callPart('c', 'look', '{}'),
      ]);
      const { shown, outputBytes } = translateAnswer(answer, { emulated });
      const { echo = '' } = emulated;
      const echoed = texts[0]?.startsWith(echo) ? countOutputBytes([textPart(echo)]) : 0;
      assert.equal(outputBytes, countOutputBytes(answer.content) - echoed);
      assert.ok(countOutputBytes(shown.content) <= outputBytes);
      assert.equal(shown.usage, answer.usage);
    }),
  );
});

test('a whole answer is cut before a stop sequence, and nothing follows it', () => {
  const answer = answerOf([textPart('one STOP two'), textPart('three'), callPart('c', 'look')]);
  const { shown } = translateAnswer(answer, { emulated: { stopSequences: ['STOP'] } });
  assert.deepEqual(shown.content, [textPart('one ')]);
  assert.deepEqual(shown.stop, { reason: 'stop-sequence', sequence: 'STOP' });
});

test('a whole answer that is cut keeps the citations of what is shown', () => {
  const at = (start: number, end: number) => pageCitation({ span: { start, end } });
  const whole = pageCitation({ span: null });
  const texts = [
    { ...textPart('Oslo'), citations: [at(0, 4)] },
    { ...textPart('one STOP two'), citations: [at(0, 3), at(0, 7), whole] },
    { ...textPart('three'), citations: [whole] },
  ];
  const { shown } = translateAnswer(answerOf(texts), { emulated: { stopSequences: ['STOP'] } });
  assert.deepEqual(shown.content, [
    texts[0],
    { ...textPart('one '), citations: [at(0, 3), whole] },
  ]);
});
