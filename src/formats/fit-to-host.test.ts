import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitToHost } from './fit-to-host.ts';

const body = {
  model: 'm',
  seed: 1,
  user: 'u',
  stream_options: { include_usage: true },
  tool_choice: 'required',
};

test('what a host refuses is left out and listed, but for what the gateway itself has set', () => {
  const fitted = fitToHost(body, { refused: ['user', 'stream_options', 'absent'] });
  assert.deepEqual(fitted.body, { model: 'm', seed: 1, tool_choice: 'required' });
  assert.deepEqual(fitted.ignored, ['user']);
});

test('a host that refuses unknown fields gets those that it knows', () => {
  const fitted = fitToHost(body, { only: ['model', 'tool_choice'] });
  assert.deepEqual(fitted.body, { model: 'm', tool_choice: 'required' });
  assert.deepEqual(fitted.ignored, ['seed', 'user']);
});

test('a field has the host’s name, and a forced call its word', () => {
  const fitted = fitToHost(body, { renamed: { seed: 'random_seed' }, forcedChoice: 'any' });
  assert.equal(fitted.body['random_seed'], 1);
  assert.equal(fitted.body['seed'], undefined);
  assert.equal(fitted.body['tool_choice'], 'any');
  assert.deepEqual(fitted.ignored, []);
  const named = { tool_choice: { type: 'function', function: { name: 'f' } } };
  assert.equal(fitToHost(named, { forcedChoice: 'any' }).body, named);
});

test('a body that fits is the same object', () => {
  assert.equal(fitToHost(body, { refused: ['absent'] }).body, body);
});
