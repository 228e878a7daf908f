import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestModelId } from './nearest-model.ts';

const ids = (
  'gpt-5-mini gpt-5 gpt-4.1 gpt-4o claude-haiku-4-5 claude-sonnet-4-5 claude-opus-5 ' +
  'gemini-2.5-flash meta-llama/llama-3.3-70b-instruct'
).split(' ');

const cases: [name: string, meant: string | null][] = [
  ['gpt-5-mimi', 'gpt-5-mini'],
  ['GPT-5 Mini', 'gpt-5-mini'],
  ['gpt5-mini', 'gpt-5-mini'],
  ['openai/gpt-5-minni', 'gpt-5-mini'],
  ['claude-sonnet-4.5', 'claude-sonnet-4-5'],
  ['anthropic.claude-sonnet-4.5', 'claude-sonnet-4-5'],
  ['claude-sonnet-4', 'claude-sonnet-4-5'],
  ['claude-4-5-sonnet', 'claude-sonnet-4-5'],
  ['claude-3-5-haiku-20241022', 'claude-haiku-4-5'],
  ['gemini-2.0-flash', 'gemini-2.5-flash'],
  ['llama-3.3-70b', 'meta-llama/llama-3.3-70b-instruct'],
  ['nobody', null],
  ['x', null],
  ['', null],
  ['-', null],
];

for (const [name, meant] of cases) {
  test(`"${name}" suggests ${meant ?? 'nothing'}`, () => {
    assert.equal(nearestModelId(name, ids), meant);
  });
}

test('an extremely long name is not compared', () => {
  const compared: string[] = [];
  const watched = new Proxy(ids, {
    get: (target, field) => (compared.push(String(field)), Reflect.get(target, field) as unknown),
  });
  for (const text of ['g'.repeat(10_000), `gpt-5-mini${'-'.repeat(10_000)}`, '/'.repeat(10_000)]) {
    assert.equal(nearestModelId(text, watched), null);
  }
  assert.deepEqual(compared, []);
});
