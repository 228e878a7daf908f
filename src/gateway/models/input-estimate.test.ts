import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pngHead } from '../../../tests/support/images/png-head.ts';
import type { JsonObject } from '../../lib/json.ts';
import { estimateInput } from './input-estimate.ts';
import type { ChosenRoute } from '../routing/route.ts';

const route = (kind: string) =>
  ({
    passFields: new Set(),
    isSandbox: kind === 'sandbox',
    kind: { kind },
  }) as unknown as ChosenRoute;

/**
 * 1 600 × 1 600 pixels: 3 364 tokens at Anthropic, 3 000 at OpenAI, some 1 100 at Google, 1 600 in
 * the sandbox.
 */
const image = {
  type: 'image',
  source: { type: 'base64', data: pngHead(1_600, 1_600).toString('base64') },
};

const table: [ownedBy: string, kinds: string[], tokens: number][] = [
  ['anthropic', ['anthropic'], 3_364],
  ['anthropic', ['openai-compatible'], 3_364],
  ['openai', ['openai'], 3_000],
  ['OpenAI', ['openai-compatible', 'openai'], 3_000],
  ['google', ['google'], 1_120],
  ['google', ['openai-compatible'], 1_120],
  ['acme', ['openai'], 3_000],
  ['acme', ['google', 'google'], 1_120],
  ['acme', ['google', 'openai'], 3_364],
  ['acme', ['openai-compatible'], 3_364],
  ['openai', ['sandbox'], 1_600],
];

for (const [ownedBy, kinds, tokens] of table) {
  test(`an image for a model of ${ownedBy} at ${kinds.join(' and ')} is ${tokens} tokens`, () => {
    const { upper } = estimateInput(
      { body: { content: [image] } },
      { model: { ownedBy }, routes: kinds.map(route) },
    );
    assert.ok(upper >= tokens && upper < tokens + 200, String(upper));
  });
}

test('a URL in a field that the operator opened on any route counts as a video', () => {
  const passFields = new Set(['messages.content.hologram', 'sampler']);
  const opened = [route('openai'), { ...route('openai-compatible'), passFields }];
  const upperOf = (body: JsonObject) =>
    estimateInput({ body }, { model: { ownedBy: 'acme' }, routes: opened }).upper;
  const content = (part: JsonObject) => ({ messages: [{ role: 'user', content: [part] }] });
  assert.ok(upperOf(content({ type: 'hologram', rays: 3 })) > 100_000_000);
  assert.ok(
    upperOf(content({ type: 'text', text: 'x', hologram: ['https://x.example/h'] })) > 100_000_000,
  );
  assert.ok(upperOf({ sampler: { seeds: [1, 2], name: 'fast' } }) < 100);
});
