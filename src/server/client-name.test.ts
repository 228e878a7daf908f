import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { clientNameOf } from './client-name.ts';

test('a client is named by its program and two parts of its version', () => {
  for (const [userAgent, name] of [
    ['OpenAI/Python 2.8.1', 'openai-python/2.8'],
    ['Anthropic/JS 0.70.0', 'anthropic-js/0.70'],
    ['claude-cli/2.1.5 (external, cli)', 'claude-cli/2.1'],
    ['codex_cli_rs/0.63.0 (Ubuntu 24.4.0; x86_64) xterm-256color', 'codex_cli_rs/0.63'],
    ['GeminiCLI/0.15.0/gemini-2.5-pro (linux; x64)', 'geminicli/0.15'],
    ['ai/5.0.93 ai-sdk/provider-utils/3.0.17 runtime/node.js/24', 'ai/5.0'],
    ['google-genai-sdk/1.50.0 gl-node/24', 'google-genai-sdk/1.50'],
    ['curl/8.5.0', 'curl/8.5'],
    ['Go-http-client/1.1', 'go-http-client/1.1'],
    ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/131.0', 'browser'],
    ['node', 'node'],
    ['(a comment)', undefined],
    ['tg_live_0123456789abcdefghijklmnopqrstuvwxyz', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const)
    assert.equal(clientNameOf(userAgent), name);
});

test('whatever a header says, a name is short, and has no spaces, comments or addresses', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('/', ' ', '.', '1', 'OpenAI', 'v2', '(', '@'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      assert.match(clientNameOf(pieces.join('')) ?? 'none', /^[a-z][\w.-]{0,48}(\/[\d.]{1,11})?$/);
    }),
  );
});
