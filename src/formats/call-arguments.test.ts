import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assistantTurn, callPart } from '../../tests/support/canonical/parts.ts';
import type { Message } from '../canonical/request.ts';
import { requestValuesMax } from '../lib/json.ts';
import { limitArguments, readInput, writeInput } from './call-arguments.ts';

test('arguments that are nested too deep stay text', () => {
  const text = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const input = writeInput(text);
  assert.deepEqual(input, { invalid_json_arguments: text });
  assert.equal(readInput(input), text);
});

test('the arguments of all calls together have at most as many values as a request', () => {
  const turn = (values: number): Message =>
    assistantTurn(callPart('c', 't', JSON.stringify(Array(values).fill(0))));
  const half = turn(requestValuesMax / 2);
  limitArguments([half, half]);
  assert.throws(
    () => limitArguments([half, half, turn(1)]),
    /arguments of the calls have more than 50000 values together/,
  );
  const inText = JSON.stringify(
    `{"a":[${Array(requestValuesMax - 10)
      .fill(0)
      .join()}]}`,
  );
  const wrapped = assistantTurn(callPart('c', 't', inText));
  assert.throws(() => limitArguments([wrapped, wrapped]), /values together/);
});
