import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effortLevels } from '../canonical/request.ts';
import { fitEffort, fitKnownEffort, refusesChatTools } from './openai-models.ts';

const known: Readonly<Record<string, string>> = {
  o3: 'low medium high',
  'gpt-5-mini-2025-08-07': 'minimal low medium high',
  'gpt-5-pro': 'high',
  'gpt-5.1': 'none low medium high',
  'gpt-5.1-codex-max': 'low medium high xhigh',
  'gpt-5.2': 'none low medium high xhigh',
  'gpt-5.2-pro': 'medium high xhigh',
  'gpt-5.3-codex': 'low medium high xhigh',
  'openai/gpt-5.6-sol': 'none low medium high xhigh max',
  'gpt-6.1-terra': 'none low medium high xhigh max',
  'openai/gpt-oss-120b': 'low medium high',
  'deepseek-v4-pro': 'none low medium high max',
  'kimi-k3.1-pro': 'low high max',
  'kimi-k2.6': 'none low medium high',
  'kimi-k2.7-code': 'low medium high',
  'grok-4.3': 'none low medium high',
  'grok-4.5': 'low medium high',
  'x-ai/grok-4.7': 'low medium high xhigh',
  'glm-5.3': 'low high max',
  'glm-5.2': 'none high max',
  'glm-5.1': 'none low medium high',
  'MiniMax-M3.1-Flash': 'low medium high xhigh max',
  'MiniMax-M3': 'none low medium high',
  'mistralai/mistral-small-2603': 'none high',
  'mistral-large-4-0': 'none low medium high',
  'qwen3-235b-a22b-thinking-2507': 'low medium high',
  'qwen3.8-plus': 'none low medium high',
  // Deployments at Azure, where names once had no dot.
  'gpt-35-turbo': 'none low medium high',
  'gpt-41-mini': 'none low medium high',
};

for (const [model, efforts] of Object.entries(known)) {
  test(`${model} is sent only the efforts ${efforts}`, () => {
    const sent = new Set(effortLevels.map((effort) => fitEffort(effort, model)));
    assert.deepEqual(sent, new Set(efforts.split(' ')));
  });
}

test('a model without levels is sent no effort', () => {
  assert.equal(fitEffort('high', 'grok-4.20-0309-reasoning'), null);
  assert.equal(fitEffort('high', 'grok-4.20-multi-agent'), 'high');
  // Only Groq knows no effort for them.
  assert.equal(fitEffort('high', 'qwen/qwen3-32b'), 'high');
});

test('on the straight path a model of another vendor gets the client’s effort', () => {
  assert.equal(fitKnownEffort('xhigh', 'grok-4.7'), 'xhigh');
  assert.equal(fitKnownEffort('xhigh', 'gpt-5'), 'high');
  assert.equal(fitKnownEffort('high', 'gpt-4o'), 'high');
  assert.equal(fitKnownEffort('none', 'a-model'), 'none');
  // Kimi would think as much as it can, and GLM refuses it.
  assert.equal(fitKnownEffort('medium', 'kimi-k3'), 'low');
  assert.equal(fitKnownEffort('none', 'glm-5.3'), 'low');
  assert.equal(fitKnownEffort('high', 'qwen/qwen3-32b'), 'high');
});

test('functions leave Chat for OpenAI’s models from 5.4 on while they think, and for no others', () => {
  const think = ['gpt-5.5', 'gpt-6-luna', 'openai/gpt-5.4-pro'];
  for (const model of think) assert.equal(refusesChatTools(null, model), true, model);
  const others = 'gpt-5.4 gpt-5.3 gpt-35-turbo gpt-41-mini gpt-4o gpt-oss-120b o3 gpt-5.5-chat';
  for (const model of others.split(' ')) assert.equal(refusesChatTools(null, model), false, model);
});
