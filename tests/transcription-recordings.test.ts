// Recorded transcriptions of real hosts become text with the hosts' own count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject, type JsonObject } from '../src/lib/json.ts';
import { readJsonEvents } from '../src/gateway/calling/read-events.ts';
import { readTranscript } from '../src/providers/transcriptions/host.ts';
import { elevenlabs } from '../src/providers/transcriptions/elevenlabs.ts';
import { gemini } from '../src/providers/transcriptions/gemini.ts';
import { xai } from '../src/providers/transcriptions/xai.ts';
import { loadEndpointRecordings, type EndpointRecording } from './support/endpoint-recordings.ts';

const recordings = loadEndpointRecordings('transcriptions').filter(({ status }) => status === 200);
const sold = /openai\.com|openrouter|mistral|groq|gateway|googleapis|x\.ai|elevenlabs/;
/** Hosts with forms of their own, by a part of the host's name. */
const forms = [
  ['googleapis', gemini],
  ['x.ai', xai],
  ['elevenlabs', elevenlabs],
] as const;

/** What the vendor says, wherever it says it. */
function countOf({ usage, duration, usageMetadata }: JsonObject): unknown {
  if (isObject(usageMetadata)) {
    const { promptTokenCount: input, totalTokenCount: total } = usageMetadata;
    return [input, Number(total) - Number(input)];
  }
  if (!isObject(usage)) return duration === undefined ? null : Math.ceil(Number(duration));
  return usage.prompt_audio_seconds ?? usage.seconds ?? [usage.input_tokens, usage.output_tokens];
}

for (const recording of recordings) {
  const { file, host, bytes } = recording;
  if (!sold.test(`${host} ${file}`)) continue;
  test(`${file} becomes text`, async () => {
    const body = await bodyOf(recording);
    if (body === null) return assert.ok(bytes.toString().includes('Hello'));
    const form = forms.find(([name]) => host.includes(name))?.[1];
    const answer = form?.read!(body) ?? body;
    const transcript = readTranscript(answer);
    assert.ok(transcript && transcript.text.length > 10);
    const { usage } = transcript;
    const counted =
      usage?.kind === 'tokens' ? [usage.inputTokens, usage.outputTokens] : usage?.seconds;
    assert.deepEqual(counted ?? null, countOf(body));
    if (Array.isArray(body.segments) && body.segments.length > 0)
      assert.equal(transcript.segments?.length, body.segments.length);
    if (Array.isArray(answer.words) && form) {
      assert.ok(answer.words.length > 5);
      assert.equal(transcript.segments!.map((segment) => segment.text).join(' '), transcript.text);
    }
  });
}

/** The whole answer, or the last event of a stream; null: plain text. */
async function bodyOf({ file, bytes }: EndpointRecording): Promise<JsonObject | null> {
  if (!file.endsWith('.sse')) {
    const body = JSON.parse(bytes.toString()) as JsonObject;
    return 'body' in body ? null : body;
  }
  let last: JsonObject = {};
  for await (const event of readJsonEvents(chunksOf(bytes))) last = event;
  assert.equal(last.type, 'transcript.text.done');
  return last;
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 7) yield bytes.subarray(start, start + 7);
}
