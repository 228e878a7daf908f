// Rules of a Gemini stream: chunks without names, comments or an end line, which Google's SDKs would
// break on. On the straight path candidates come as the host cuts them.
import assert from 'node:assert/strict';
import type { StreamFacts, StreamReading } from './stream-rules.ts';
import { checkCost, readJson, type EventFrame, type Json } from './stream-rules-frames.ts';

export function checkGemini(
  frames: readonly EventFrame[],
  { straight = false }: StreamFacts,
): StreamReading {
  for (const { event } of frames) assert.equal(event, null, 'Gemini has data lines only');
  const chunks = frames.map(readJson);
  const last = chunks.at(-1);
  assert.ok(last, 'an empty stream');
  for (const chunk of chunks.slice(0, -1))
    assert.ok(!chunk['error'], 'nothing comes after an error');
  for (const chunk of chunks.slice(0, -1))
    assert.equal(chunk['usageMetadata'], undefined, 'the last chunk alone has a usage');
  const content = chunks.filter((chunk) => !chunk['error']);
  assert.ok(
    new Set(content.flatMap((chunk) => chunk['modelVersion'] ?? [])).size <= 1,
    'all chunks name one model',
  );
  const candidates = content.flatMap((chunk) => (chunk['candidates'] ?? []) as Json[]);
  const text = candidates
    .filter((candidate) => (candidate['index'] ?? 0) === 0)
    .flatMap((candidate) => (candidate['content']?.parts ?? []) as Json[])
    .map((part) => (part['thought'] ? '' : (part['text'] ?? '')) as string)
    .join('');
  if (last['error']) return { ending: checkError(last['error']), text };
  checkCost(last['usageMetadata']);
  if (!straight) checkWritten(chunks);
  return { ending: 'success', text };
}

function checkError({ code, status, message, details }: Json): 'error' {
  assert.ok(code >= 400 && code < 600 && typeof status === 'string');
  assert.ok(message.length > 10 && Array.isArray(details));
  return 'error';
}

/** Each chunk has one candidate, and the last says why the answer ended. */
function checkWritten(chunks: readonly Json[]): void {
  const ends = chunks.map((chunk) => {
    assert.equal(chunk['candidates'].length, 1);
    const [{ index, content, finishReason }] = chunk['candidates'] as [Json];
    assert.deepEqual([index, content.role], [0, 'model']);
    return finishReason !== undefined;
  });
  assert.equal(ends.indexOf(true), chunks.length - 1, 'the finish reason comes last, once');
  const usage = chunks.at(-1)!['usageMetadata'] as Json;
  const count = (name: string) => (usage[name] ?? 0) as number;
  assert.equal(
    usage['totalTokenCount'],
    count('promptTokenCount') + count('candidatesTokenCount') + count('thoughtsTokenCount'),
  );
}
