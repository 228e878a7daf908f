import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitLines } from './split-lines.ts';

test('a line that is too long keeps its beginning, however the text is divided', async () => {
  const long = `{"custom_id":"a"}${'x'.repeat(30)}`;
  const bytes = Buffer.from(`short\n${long}\n\nlast`);
  for (let size = 1; size <= bytes.length; size++) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const lines = await Array.fromAsync(splitLines(streamOf(pieces), 20));
    const shown = lines.map(({ text, isCut }) => `${isCut} ${text.toString().slice(0, 17)}`);
    const expected = ['false short', `true ${long.slice(0, 17)}`, 'false ', 'false last'];
    assert.deepEqual(shown, expected, `pieces of ${size}`);
  }
});

async function* streamOf(pieces: readonly Buffer[]) {
  yield* pieces;
}
