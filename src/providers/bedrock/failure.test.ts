// Classifies the errors of Bedrock: the request is at fault, the route, or a quota is full.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeFailure } from '../../canonical/make-failure.ts';
import { bedrock } from './index.ts';

test('a full quota passes, and no client makes its own fault one by what it wrote', () => {
  for (const [message, status] of [
    ['Your request exceeds the service quota for your account.', 429],
    ['The number of requests exceeds the service quota. Resubmit your request later.', 429],
    ['messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: quota', 400],
    ["1 validation error detected: Value 'quota' at 'toolConfig.tools' failed", 400],
    ['Unknown tool "quota"', 400],
    ['The provided model identifier is invalid.', 404],
  ] as const)
    assert.equal(bedrock.readFailure!(makeFailure(400, message), null).status, status, message);
});
