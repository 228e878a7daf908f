// Recorded transcriptions of real hosts become text with the hosts' own count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject, type JsonObject } from '../src/lib/json.ts';
import { readTaskEvents } from '../src/gateway/tasks/task-call.ts';
import { readTranscript } from '../src/providers/transcriptions/host.ts';
import { loadEndpointRecordings, type EndpointRecording } from './support/endpoint-recordings.ts';

const recordings = loadEndpointRecordings('transcriptions').filter(({ status }) => status === 200);
/** Hosts that speak OpenAI's form, and so are sold. */
const sold = /openai\.com|openrouter|mistral|groq|gateway/;

/** What the vendor says, wherever it says it. */
function countOf({ usage, duration }: JsonObject): unknown {
  if (!isObject(usage)) return duration === undefined ? null : Math.ceil(Number(duration));
  return usage.prompt_audio_seconds ?? usage.seconds ?? [usage.input_tokens, usage.output_tokens];
}

for (const recording of recordings) {
  const { file, host, bytes } = recording;
  if (!sold.test(`${host} ${file}`)) continue;
  test(`${file} becomes text`, async () => {
    const body = await bodyOf(recording);
    if (body === null) return assert.ok(bytes.toString().includes('Hello'));
    const transcript = readTranscript(body);
    assert.ok(transcript && transcript.text.length > 10);
    const { usage } = transcript;
    const counted =
      usage?.kind === 'tokens' ? [usage.inputTokens, usage.outputTokens] : usage?.seconds;
    assert.deepEqual(counted ?? null, countOf(body));
    if (Array.isArray(body.segments) && body.segments.length > 0)
      assert.equal(transcript.segments?.length, body.segments.length);
  });
}

/** The whole answer, or the last event of a stream; null: plain text. */
async function bodyOf({ file, bytes }: EndpointRecording): Promise<JsonObject | null> {
  if (!file.endsWith('.sse')) {
    const body = JSON.parse(bytes.toString()) as JsonObject;
    return 'text' in body ? body : null;
  }
  let last: JsonObject = {};
  for await (const event of readTaskEvents(chunksOf(bytes))) last = event;
  assert.equal(last.type, 'transcript.text.done');
  return last;
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 7) yield bytes.subarray(start, start + 7);
}
