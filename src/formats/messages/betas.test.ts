import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allowedBetas, ignoredBetas, refusedBetas, withFastMode } from './betas.ts';

test('features that keep state, cost extra or are malformed are left out', () => {
  assert.equal(
    allowedBetas(
      'mcp-client-2026-09-15, files-api-2025-04-14, Fallback-Credit-2026-02-01, oauth-2025-04-20',
    ),
    '',
  );
  assert.equal(allowedBetas(''), '');
  assert.equal(
    allowedBetas('future-feature-2031-01-01, two words, a\tb'),
    'future-feature-2031-01-01',
  );
});

test('a host that refuses unknown features gets those that it knows', () => {
  const header = 'effort-2025-11-24,redact-thinking-2026-02-12,skills-2025-10-02';
  const known = new Set(['effort-2025-11-24', 'skills-2025-10-02']);
  assert.equal(allowedBetas(header, known), 'effort-2025-11-24');
  assert.deepEqual(ignoredBetas(header, known), [
    'anthropic-beta.redact-thinking-2026-02-12',
    'anthropic-beta.skills-2025-10-02',
  ]);
  assert.deepEqual(ignoredBetas(header), ['anthropic-beta.skills-2025-10-02']);
});

test('a fast request names its feature once, beside the client’s own', () => {
  const fast = 'fast-mode-2026-02-01';
  assert.equal(withFastMode(), fast);
  assert.equal(withFastMode(`pdfs-2024-09-25, ${fast}`), `pdfs-2024-09-25,${fast}`);
  assert.equal(allowedBetas(withFastMode('skills-2025-10-02')), fast);
});

/**
 * The allowed features of the official list. A new one in the SDK fails the test until somebody
 * decides.
 */
const harmless = (
  'computer-use output-128k output-300k dev-full-thinking interleaved-thinking context-management ' +
  'model-context-window-exceeded thinking-token-count mid-conversation-tool-changes structured-outputs ' +
  'task-budgets thinking-display-updates mid-conversation-output-config thinking-binding-controls ' +
  'mid-conversation-system-clear-at inline-tools prompt-caching pdfs token-counting token-efficient-tools ' +
  'extended-cache-ttl fast-mode'
).split(' ');

test('every beta feature of the official types is decided', () => {
  const types = readFileSync(
    new URL('../../../node_modules/@anthropic-ai/sdk/resources/beta/beta.d.ts', import.meta.url),
    'utf8',
  );
  const [, union] = /export type AnthropicBeta = ([^;]+);/.exec(types)!;
  const names = [...union!.matchAll(/'([^']+)'/g)].map((match) => match[1]!);
  assert.ok(names.length > 40, 'the types are read');
  const allowed = names
    .filter((name) => allowedBetas(name) !== '')
    .map((name) => name.replace(/-\d{4}-\d{2}-\d{2}$/, ''));
  assert.deepEqual(new Set(allowed), new Set(harmless));
  assert.ok(
    Object.keys(refusedBetas).every(
      (name) => allowedBetas(`${name}${name.endsWith('-') ? 'x' : ''}-2030-01-01`) === '',
    ),
  );
});
