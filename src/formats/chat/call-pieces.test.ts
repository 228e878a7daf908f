import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMsOf } from '../../../tests/support/cpu-time.ts';
import { CallsByPiece, type CallPiece } from './call-pieces.ts';

type Call = { id: string; text: string };

/** Takes pieces as the readers do: one after another, each to its call. */
function gather(pieces: readonly Partial<CallPiece>[]): readonly Call[] {
  const calls = new CallsByPiece<Call>();
  for (const fields of pieces) {
    const piece: CallPiece = {
      index: null,
      id: '',
      name: '',
      text: '',
      kind: 'function',
      ...fields,
    };
    const known = calls.find(piece);
    const call = known ?? { id: piece.id, text: '' };
    if (!known) calls.add(call, piece);
    call.id ||= piece.id;
    call.text += piece.text;
  }
  return calls.all;
}

const manyPieces: Readonly<Record<string, (index: number) => Partial<CallPiece>>> = {
  'pieces of a call that all repeat its name': (index) => ({
    index: 0,
    name: 'f',
    text: index === 0 ? '{"a":"' : 'text',
  }),
  'calls without an index': (index) => ({ id: `call_${index}`, name: 'f', text: '{}' }),
};

for (const [name, pieceAt] of Object.entries(manyPieces)) {
  test(`the time for ${name} grows about linearly`, () => {
    const piecesOf = (count: number) => Array.from({ length: count }, (_, index) => pieceAt(index));
    const [few, many] = [piecesOf(4_000), piecesOf(40_000)];
    const short = leastCpuMsOf(() => gather(few));
    const long = leastCpuMsOf(() => gather(many));
    assert.ok(long < 200 || long < short * 40, `${short} ms, then ${long} ms`);
  });
}

test('a call is found by an id that it got later', () => {
  const calls = gather([
    { name: 'f', text: '{"a":' },
    { name: '', text: '1' },
    { id: 'a', name: 'g', text: '{}' },
  ]);
  assert.deepEqual(calls, [
    { id: '', text: '{"a":1' },
    { id: 'a', text: '{}' },
  ]);
  const late = gather([
    { index: 0, name: 'f' },
    { index: 0, id: 'a', text: '{' },
    { id: 'a', text: '}' },
  ]);
  assert.deepEqual(late, [{ id: 'a', text: '{}' }]);
});
