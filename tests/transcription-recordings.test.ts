// Recorded transcriptions of real hosts are sold in every form of the endpoint, at the hosts' own count.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isObject, objectOf, type JsonObject } from '../src/lib/json.ts';
import { readJsonEvents } from '../src/gateway/calling/read-events.ts';
import { loadEndpointRecordings, type EndpointRecording } from './support/endpoint-recordings.ts';
import { startGateway, upstreamKey } from './support/gateway.ts';
import { readFrames } from './support/http.ts';
import { audioForm, wav } from './support/task-samples.ts';
import { answerBytes } from './support/upstream.ts';

const recordings = loadEndpointRecordings('transcriptions').filter(({ status }) => status === 200);

/** By a part of the host's name, or else OpenAI's: the provider, and the formats that it has. */
const withTimes = ['json', 'srt', 'diarized_json'];
const textOnly = ['json', 'text'];
const providers: readonly (readonly [host: string, name: string, formats: readonly string[]])[] = [
  ['googleapis', 'google', textOnly],
  ['cohere', 'cohere', textOnly],
  ['deepgram', 'deepgram', withTimes],
  ['elevenlabs', 'elevenlabs', withTimes],
  ['mistral', 'mistral', withTimes],
  ['x.ai', 'xai', withTimes],
  ['groq', 'groq', withTimes],
  ['openrouter', 'openrouter', withTimes],
  ['', 'openai', withTimes],
];

const gateway = await startGateway(({ url }) => ({
  providers: Object.fromEntries(
    providers.map(([, name]) => [name, { base_url: url, api_key: upstreamKey }]),
  ),
  models: Object.fromEntries(
    providers.flatMap(([, provider]) => {
      const routes = [{ provider, model: 'm?diarize_model=latest' }];
      const model = { type: 'transcription', routes };
      return [
        // 100 microdollars a second, and one a token.
        [`${provider}-seconds`, { ...model, prices: { input: 0, output: 0, minute: 0.006 } }],
        [`${provider}-tokens`, { ...model, prices: { input: 1, output: 1 } }],
      ];
    }),
  ),
}));
after(() => gateway.stop());
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 10 });

for (const recording of recordings) {
  const { file, host, bytes } = recording;
  const [, provider, formats] = providers.find(([part]) => host.includes(part))!;
  const isStream = file.endsWith('.sse');
  test(`${file} is sold as ${provider} counts it`, async () => {
    const body = await bodyOf(recording);
    const said = saidIn(body);
    const { seconds, tokens, segments } = said;
    // Recorded: a space comes first at Cohere.
    const text = provider === 'cohere' ? said.text.trim() : said.text;
    gateway.upstream.on(
      '*',
      answerBytes(isStream ? bytes : Buffer.from(JSON.stringify(body)), {
        headers: { 'content-type': isStream ? 'text/event-stream' : 'application/json' },
      }),
    );
    const costMicros = tokens ?? 100 * seconds;
    const model = `${provider}-${tokens === null ? 'seconds' : 'tokens'}`;
    // OpenAI itself streams what is billed by tokens; its answer was recorded whole.
    const isWhole = provider === 'openai' && tokens !== null;
    const asked = [...(isStream ? [] : formats), ...(isWhole && !isStream ? [] : ['stream'])];
    const sell = (format: string) => {
      const how: Record<string, string> =
        format === 'stream' ? { stream: 'true' } : { response_format: format };
      const form = audioForm({ model, language: 'en', ...how }, wav(37));
      return gateway.post('/v1/audio/transcriptions', { key, ...form });
    };
    const replies = await Promise.all(
      asked.map(async (format) => [format, await sell(format)] as const),
    );
    for (const [format, reply] of replies) {
      const isSubtitled = format === 'srt';
      if (isSubtitled && segments === null) {
        assert.equal(reply.status, 502);
        continue;
      }
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.costMicros, costMicros, format);
      if (format === 'text') assert.equal(reply.text, `${text}\n`);
      else if (isSubtitled) assert.equal(reply.text.match(cue)?.length ?? 0, segments);
      else if (format === 'stream') checkStream(readFrames(reply.text), text);
      else checkAnswer(reply.json(), { format, text, tokens, segments });
    }
  });
}

const cue = /\d\d:\d\d:\d\d[.,]\d{3} --> \d\d:\d\d:\d\d[.,]\d{3}\n.+\n\n/g;

function checkAnswer(
  answer: JsonObject,
  { format, text, tokens, segments }: Omit<Said, 'seconds'> & { readonly format: string },
): void {
  assert.equal(answer['text'], text);
  assert.equal(objectOf(answer['usage'])['type'], tokens === null ? 'duration' : 'tokens');
  if (format === 'json') return;
  assert.deepEqual([typeof answer['language'], typeof answer['duration']], ['string', 'number']);
  if (segments === null) return;
  const told = answer['segments'] as readonly JsonObject[];
  assert.equal(told.length, segments);
  for (const { id, start, end, text: said, type, speaker } of told) {
    assert.ok(id !== undefined && Number(start) <= Number(end) && said);
    // Whisper tells no speakers.
    if (type !== undefined) assert.equal(typeof speaker, 'string');
  }
}

function checkStream(frames: ReturnType<typeof readFrames>, text: string): void {
  const events = frames.map(({ data }) => data);
  assert.equal(events.at(-1), '[DONE]');
  const [last, ...others] = (events.slice(0, -1) as JsonObject[]).toReversed();
  assert.deepEqual([last!['type'], last!['text']], ['transcript.text.done', text]);
  // A model that tells speakers sends segments.
  if (others.some(({ type }) => type === 'transcript.text.segment')) return;
  const deltas = others.filter(({ type }) => type === 'transcript.text.delta').toReversed();
  assert.equal(
    deltas
      .map(({ delta }) => delta)
      .join('')
      .trim(),
    text.trim(),
  );
}

/** The whole answer, or the last event of a stream. One has a note of its status and a plain text. */
async function bodyOf({ file, bytes }: EndpointRecording): Promise<JsonObject> {
  if (!file.endsWith('.sse')) {
    const body = JSON.parse(bytes.toString()) as JsonObject;
    return typeof body['body'] === 'string' ? { text: body['body'] } : body;
  }
  let last: JsonObject = {};
  for await (const event of readJsonEvents(chunksOf(bytes))) last = event;
  return last;
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

type Said = { text: string; seconds: number; tokens: number | null; segments: number | null };

/** Reads a recorded answer of any vendor. `segments`: their number; null: it has no times. */
function saidIn(body: JsonObject): Said {
  const { text, usage, duration, usageMetadata, segments, words, results, metadata } = body;
  if (isObject(usageMetadata)) {
    const { candidates } = body as { candidates: { content: { parts: { text: string }[] } }[] };
    const said = candidates[0]!.content.parts.map((part) => part.text).join('');
    const tokens = Number(usageMetadata['totalTokenCount']);
    return { text: said.trim(), seconds: 0, tokens, segments: null };
  }
  if (isObject(results)) {
    const { channels } = results as {
      channels: { alternatives: { transcript: string; words: JsonObject[] }[] }[];
    };
    const { transcript, words: spoken } = channels[0]!.alternatives[0]!;
    const sentences = Math.ceil(spoken.length / 20);
    const { duration: told } = metadata as { duration: number };
    return { text: transcript, seconds: Math.ceil(told), tokens: null, segments: sentences };
  }
  const { prompt_audio_seconds: audio, seconds, input_tokens, output_tokens } = objectOf(usage);
  const count = audio ?? seconds ?? (typeof duration === 'number' ? Math.ceil(duration) : 37);
  const tokens = input_tokens === undefined ? null : Number(input_tokens) + Number(output_tokens);
  // OpenAI's words alone make no subtitles.
  const sentences = Array.isArray(words) && isObject(words[0]) && 'text' in words[0] ? 1 : null;
  const parts = Array.isArray(segments) ? segments.length || null : sentences;
  return { text: String(text), seconds: Number(count), tokens, segments: parts };
}
