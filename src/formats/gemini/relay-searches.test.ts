import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerContext } from '../../../tests/support/pipes.ts';
import fc from '../../../tests/support/property.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayStream } from './relay-stream.ts';

const query = fc.constantFrom('', 'a', 'b', 'c');
/** The queries of each candidate, in pieces. */
const candidates = fc.array(fc.array(fc.array(query, { maxLength: 3 }), { maxLength: 4 }), {
  minLength: 1,
  maxLength: 3,
});

test('a stream counts the searches of all candidates, as a whole answer does, in whatever chunks they are named', () => {
  fc.assert(
    fc.property(candidates, fc.boolean(), (split, isRepeated) => {
      const context = answerContext('gemini', {
        generationConfig: { candidateCount: split.length },
      });
      const named = (webSearchQueries: readonly string[], index: number) => ({
        index,
        groundingMetadata: { webSearchQueries },
      });
      const whole = split.map((pieces, index) => ({
        ...named(pieces.flat(), index),
        finishReason: 'STOP',
      }));
      const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1 };
      const pipe = relayStream(context);
      for (const [index, pieces] of split.entries())
        for (let end = 1; end <= pieces.length; end++) {
          const queries = pieces.slice(isRepeated ? 0 : end - 1, end).flat();
          pipe.push({ event: '', data: JSON.stringify({ candidates: [named(queries, index)] }) });
        }
      const last = {
        candidates: whole.map(({ index, finishReason }) => ({ index, finishReason })),
      };
      pipe.push({ event: '', data: JSON.stringify({ ...last, usageMetadata }) });
      pipe.end();
      assert.equal(pipe.progress.status, 'finished');
      const { searches } = relayAnswer({ candidates: whole, usageMetadata }, context);
      const ran = split.map((pieces) => new Set(pieces.flat().filter((text) => text !== '')).size);
      const expected = ran.reduce((sum, count) => sum + count, 0);
      assert.deepEqual([searches, pipe.progress.searches ?? 0], [expected, expected]);
    }),
    { examples: [[[[['a'], ['b']], [['a']]], false]] },
  );
});
