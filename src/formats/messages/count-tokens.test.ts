import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../canonical/errors.ts';
import { asRunning, ignoredAnswerFields, inputCount, parseCountRequest } from './count-tokens.ts';
import type { UpstreamTarget } from '../format.ts';
import { relayRequest } from './relay-request.ts';
import { upstreamTarget } from '../../../tests/support/formats/messages.ts';

const body = { model: 'claude-test', messages: [{ role: 'user', content: 'Hello' }] };

/** Writes a request as for a run, then as for a count. */
function count(
  request: ReturnType<typeof parseCountRequest>,
  fields: Partial<UpstreamTarget> = {},
) {
  const target = upstreamTarget(fields);
  const written = relayRequest(asRunning(request, target.maxOutputTokens), target);
  return { ...written, body: inputCount.write(written.body, target.model) };
}

test('fields that Anthropic counts are sent, and fields that only affect the answer are not', () => {
  const counted = {
    system: 'Be brief.',
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
    tool_choice: { type: 'any' },
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low' },
    cache_control: { type: 'ephemeral' },
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  };
  const answer = {
    max_tokens: 9,
    stream: true,
    temperature: 1,
    top_p: 1,
    top_k: 1,
    stop_sequences: ['x'],
    metadata: { user_id: 'u' },
  };
  const request = parseCountRequest({ ...body, ...counted, ...answer, service_tier: 'auto' });
  const written = count(request, { model: 'up' });
  assert.deepEqual(written.body, { ...body, ...counted, model: 'up' });
  assert.deepEqual(ignoredAnswerFields(request), [...Object.keys(answer), 'service_tier']);
});

test('a thinking budget needs no max_tokens, and is dropped for a model that does not think', () => {
  const request = parseCountRequest({
    ...body,
    thinking: { type: 'enabled', budget_tokens: 60_000 },
  });
  const thinks = count(request, { maxOutputTokens: 64_000 });
  assert.deepEqual(thinks.body.thinking, { type: 'enabled', budget_tokens: 60_000 });
  const not = count(request, { thinking: false });
  assert.equal(not.body.thinking, undefined);
  assert.deepEqual(not.ignored, ['thinking']);
});

test('fields that the shared credential must not pass are refused, even if counting them is free', () => {
  for (const fields of [
    { container: 'c' },
    { mcp_servers: [{ url: 'x' }] },
    { tools: [{ type: 'code_execution_20250825', name: 'x' }] },
  ]) {
    const request = parseCountRequest({ ...body, ...fields });
    assert.throws(() => count(request), ApiError);
  }
});

test('a count is a whole number that is not negative', () => {
  assert.equal(inputCount.read({ input_tokens: 0 }), 0);
  assert.equal(inputCount.read({ input_tokens: 7, context_management: {} }), 7);
  for (const value of [
    null,
    [],
    7,
    {},
    { input_tokens: '7' },
    { input_tokens: 1.5 },
    { input_tokens: -1 },
    { input_tokens: 1e12 },
  ]) {
    assert.equal(inputCount.read(value), null);
  }
});
