// `POST /v1/audio/transcriptions` and `/v1/audio/translations` over real HTTP, with local servers in place
// of the hosts.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import type { TranscriptionJob } from '../../src/providers/transcriptions/host.ts';
import { transcriptionHostOf } from '../../src/providers/transcriptions/index.ts';
import { startGateway, upstreamKey, type KeyOptions } from '../support/gateway.ts';
import { readFrames, type Reply } from '../support/http.ts';
import { routesTo } from '../support/model-of.ts';
import { rowsOf } from '../support/rows.ts';
import { audioForm, formHeaders, wav } from '../support/task-samples.ts';
import { answerJson, answerSse, type Script } from '../support/upstream.ts';

const path = '/v1/audio/transcriptions';
const openAiPath = path;
const secondPath = '/second/v1/audio/transcriptions';
/** 100 microdollars a second. */
const byMinute = { input: 0, output: 0, minute: 0.006 };
/** A microdollar a token. */
const byTokens = { input: 1, output: 1 };
const heardBy = (models: Record<string, string>, prices: object = byMinute) => ({
  type: 'transcription',
  prices,
  routes: routesTo(models),
});

/** Of a server that starts in its tests. */
const hastyPort = await freePort();

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

const gateway = await startGateway(
  (upstream) => {
    const at = (place: string) => ({ base_url: upstream.url + place, api_key: upstreamKey });
    return {
      server: { body_limit_bytes: 3_000_000 },
      providers: {
        second: { kind: 'openai-compatible', ...at('/second/v1') },
        hasty: {
          kind: 'openai-compatible',
          base_url: `http://127.0.0.1:${hastyPort}/v1`,
          api_key: 'none',
        },
        groq: at('/groq/v1'),
        mistral: at('/mistral/v1'),
        xai: at('/xai/v1'),
        elevenlabs: at('/eleven/v1'),
        deepgram: at('/deepgram/v1'),
        cohere: at('/cohere'),
      },
      models: {
        seconds: heardBy({ openai: 'first-host', second: 'second-host' }),
        tokens: { ...heardBy({ openai: 'mini' }, byTokens), timeouts: { total_ms: 1_000 } },
        hasty: heardBy({ hasty: 'x', second: 'x' }),
        'whisper-large-v3': { prices: byMinute },
        'voxtral-mini-transcribe-3': { prices: byMinute },
        'grok-stt': { prices: byMinute },
        scribe_v2: { prices: byMinute },
        'nova-3': { prices: byMinute },
        'nova-3-multilingual': { prices: byMinute },
        'nova-3-diarize': { prices: byMinute },
        'nova-spanish': heardBy({ deepgram: 'nova-3?language=es' }),
        'nova-older': heardBy({ deepgram: 'nova-2?diarize=true' }),
        'nova-first': heardBy({ deepgram: 'nova-3', second: 'second-host' }),
        'cohere-transcribe': heardBy({ cohere: 'cohere-transcribe-03-2026' }),
        asked: heardBy({ google: 'flash' }, byTokens),
        'asked-or-heard': heardBy({ google: 'flash', deepgram: 'nova-3' }),
      },
    };
  },
  { tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());
const { upstream } = gateway;

const newKey = (options: KeyOptions = {}) => gateway.makeKey({ creditUsd: 1, ...options });
type Made = Awaited<ReturnType<typeof newKey>>;
const chargedMicros = async ({ account }: Made, creditUsd = 1) =>
  Math.round(creditUsd * 1_000_000) - (await gateway.balance(account)).availableMicros;

type Asked = { readonly file?: Buffer; readonly fileFirst?: boolean; readonly at?: string };

function ask(
  { key }: Pick<Made, 'key'>,
  fields: Readonly<Record<string, string>> = {},
  { file = wav(3.7), fileFirst = true, at = path }: Asked = {},
  headers: Record<string, string> = {},
): Promise<Reply> {
  const form = audioForm({ model: 'seconds', ...fields }, file, { isFileFirst: fileFirst });
  return gateway.post(at, { key, body: form.body, headers: { ...form.headers, ...headers } });
}

const recordOf = ({ requestId }: Pick<Reply, 'requestId'>) =>
  gateway.database.read
    .selectFrom('charges')
    .selectAll()
    .where('id', '=', requestId)
    .executeTakeFirstOrThrow();

/** The fields of a form that a host got, without its file. */
function formOf(text: string): Record<string, string> {
  const parts = text.matchAll(/name="([^"]+)"\r\n\r\n([^]*?)\r\n--/g);
  return Object.fromEntries(Array.from(parts, ([, name, value]) => [name!, value!]));
}

const text = 'Ruby is a language.';
const segments = [
  { id: 0, start: 0, end: 1.5, text: ' Ruby' },
  { id: 1, start: 1.5, end: 3723.25, text: ' is a language.' },
];
const whisper: Script = answerJson({ text, usage: { type: 'duration', seconds: 4 } });
const counted = { type: 'tokens', input_tokens: 37, output_tokens: 12, total_tokens: 49 };
const events = answerSse([
  { data: { type: 'transcript.text.delta', delta: 'Ruby' } },
  { data: { type: 'transcript.text.delta', delta: ' is a language.' } },
  { data: { type: 'transcript.text.done', text, usage: counted } },
  { data: '[DONE]' },
]);

beforeEach(() => {
  upstream.on(openAiPath, whisper);
  upstream.on(secondPath, whisper);
});

const eventsOf = (reply: Reply) => readFrames(reply.text).map(({ data }) => data);

describe('a model billed by the minute', () => {
  for (const fileFirst of [true, false])
    test(`costs the seconds that its host counts, with fields ${fileFirst ? 'behind' : 'before'} the file`, async () => {
      const made = await newKey();
      const fields = { language: 'en', prompt: 'Ruby', foo: '1', 'include[]': 'logprobs' };
      const { reply, asked } = await gateway.recordUpstream(() => ask(made, fields, { fileFirst }));
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(reply.json(), { text, usage: { type: 'duration', seconds: 4 } });
      assert.equal(reply.costMicros, 400);
      assert.equal(reply.headers['x-service-ignored'], 'foo');
      assert.equal(await chargedMicros(made), 400);
      assert.deepEqual(formOf(asked[0]!.text), {
        model: 'first-host',
        response_format: 'json',
        language: 'en',
        prompt: 'Ruby',
        'include[]': 'logprobs',
      });
      assert.match(asked[0]!.text, /filename="audio\.wav"/);
      assert.ok(asked[0]!.text.includes('RIFF'));
      const { endpoint, model_id, usage_source } = await recordOf(reply);
      assert.deepEqual(
        [endpoint, model_id, usage_source],
        ['transcriptions', 'seconds', 'upstream'],
      );
    });

  test('gets a file without an extension under one that its bytes say', async () => {
    const { body, headers } = audioForm({ model: 'seconds' }, wav(1));
    const named = body.toString('latin1').replace('"a.wav"', '"blob"');
    const { key } = await newKey();
    const { asked } = await gateway.postRecorded(path, {
      key,
      headers,
      body: Buffer.from(named, 'latin1'),
    });
    assert.match(asked[0]!.text, /filename="audio\.wav"/);
  });

  test('has words and languages of gpt-transcribe, which tells the languages', async () => {
    const languages = [{ code: 'en' }];
    upstream.on(openAiPath, answerJson({ text, languages, usage: { seconds: 4 } }));
    const fields = { 'keywords[]': 'Ruby', 'languages[]': 'en' };
    const { reply, asked } = await gateway.recordUpstream(async () => ask(await newKey(), fields));
    assert.deepEqual(formOf(asked[0]!.text), {
      model: 'first-host',
      response_format: 'json',
      ...fields,
    });
    assert.deepEqual(reply.json()['languages'], languages);
  });

  test('has the settings of a detection of voices, as OpenAI’s SDKs write them', async () => {
    const fields = {
      'chunking_strategy[type]': 'server_vad',
      'chunking_strategy[prefix_padding_ms]': '300',
      'chunking_strategy[silence_duration_ms]': '200',
      'chunking_strategy[threshold]': '0.5',
    };
    const { asked } = await gateway.recordUpstream(async () => ask(await newKey(), fields));
    assert.deepEqual(formOf(asked[0]!.text), {
      model: 'first-host',
      response_format: 'json',
      ...fields,
    });
  });

  test('costs the seconds of a host that counts their parts, and tokens beside them', async () => {
    const usage = { seconds: 3.2, input_tokens: 83, output_tokens: 30, cost: 0.0005 };
    upstream.on(openAiPath, answerJson({ text, usage }));
    const costs = ['seconds', 'tokens'].map(
      async (model) => (await ask(await newKey(), { model })).costMicros,
    );
    assert.deepEqual(await Promise.all(costs), [400, 113]);
  });

  test('whose host counts nothing costs our own reading of the file', async () => {
    upstream.on(openAiPath, answerJson({ text }));
    const made = await newKey();
    const reply = await ask(made);
    assert.equal(reply.costMicros, 400);
    assert.equal((await recordOf(reply)).usage_source, 'estimate');
  });

  test('a header that lies short is charged by the host’s count', async () => {
    for (const told of [
      { usage: { type: 'duration', seconds: 20 } },
      { usage: { seconds: 0 }, duration: 19.4 },
    ]) {
      upstream.on(openAiPath, answerJson({ text, ...told }));
      const reply = await ask(await newKey(), {}, { file: wav(20, 8_000) });
      assert.equal(reply.costMicros, 2_000);
    }
  });

  test('a header that lies short is told by the times of words, where the host counts nothing', async () => {
    const words = [{ text: 'Ruby.', start: 18.5, end: 19.5 }];
    upstream.on('/eleven/v1/speech-to-text', answerJson({ text, words }));
    const reply = await ask(await newKey(), { model: 'scribe_v2' }, { file: wav(20, 8_000) });
    assert.equal(reply.costMicros, 2_000);
  });

  test('a header that lies short is told by the length of the text, where the host tells no times', async () => {
    upstream.on(openAiPath, answerJson({ text: 'Ruby. '.repeat(100) }));
    const reply = await ask(await newKey(), {}, { file: wav(20, 8_000) });
    assert.equal(reply.costMicros, 1_500);
    const whole = await ask(await newKey(), {}, { file: wav(20) });
    assert.equal(whole.costMicros, 2_000);
    const ofTokens = await ask(await newKey(), { model: 'tokens' }, { file: wav(20, 8_000) });
    assert.equal(ofTokens.costMicros, 15 * (10 + 4));
  });

  test('more than the bytes can hold is the operator’s loss', async () => {
    upstream.on(openAiPath, answerJson({ text, usage: { type: 'duration', seconds: 1_000_000 } }));
    const reply = await ask(await newKey());
    assert.equal(reply.costMicros, 3_000);
    assert.deepEqual(await gateway.lossesOf(reply.requestId), [100 * (1_000_000 - 30)]);
  });

  test('at Groq it is at least ten seconds', async () => {
    upstream.on('/groq/v1/audio/transcriptions', answerJson({ text }));
    assert.equal((await ask(await newKey(), { model: 'whisper-large-v3' })).costMicros, 1_000);
  });

  test('a host that tells the length only beside segments is asked for them, and charged by it', async () => {
    const told = answerJson({ text, segments, duration: 19.4 });
    const file = wav(20, 8_000);
    for (const [at, model, host] of [
      [path, 'whisper-large-v3', '/groq/v1/audio/transcriptions'],
      ['/v1/audio/translations', 'seconds', '/v1/audio/translations'],
    ] as const) {
      upstream.on(host, told);
      const made = await newKey();
      const { reply, asked } = await gateway.recordUpstream(() =>
        ask(made, { model }, { file, at }),
      );
      assert.equal(formOf(asked[0]!.text)['response_format'], 'verbose_json');
      assert.deepEqual(reply.json(), { text, usage: { type: 'duration', seconds: 20 } });
      assert.equal(reply.costMicros, 2_000);
    }
  });

  test('a host of OpenAI’s form is not asked for a form of translations that it may not know', () => {
    const query = { kind: 'openai-compatible', upstreamModel: 'voxtral', wishes: {} } as const;
    const host = transcriptionHostOf(query)!;
    const job = { task: 'translations', upstreamModel: 'voxtral', format: 'json', fields: {} };
    const { body } = host.write({ ...job, isEvents: false } as unknown as TranscriptionJob);
    assert.deepEqual(body, {
      form: [
        ['model', 'voxtral'],
        ['response_format', 'json'],
      ],
    });
  });

  test('an empty field, which forms send for none, is left out', async () => {
    const fields = { language: '', prompt: '', response_format: '', temperature: '', stream: '' };
    const { asked } = await gateway.recordUpstream(async () => ask(await newKey(), fields));
    assert.deepEqual(Object.keys(formOf(asked[0]!.text)), ['model', 'response_format']);
  });

  test('at Mistral its own count of seconds is charged', async () => {
    const usage = { prompt_audio_seconds: 3, prompt_tokens: 3, total_tokens: 389 };
    upstream.on('/mistral/v1/audio/transcriptions', answerJson({ text, segments, usage }));
    const fields = {
      model: 'voxtral-mini-transcribe-3',
      prompt: 'Ruby',
      response_format: 'verbose_json',
      'timestamp_granularities[]': 'word',
    };
    const { reply, asked } = await gateway.recordUpstream(async () => ask(await newKey(), fields));
    assert.equal(reply.costMicros, 300);
    // It refuses to time words.
    assert.equal(reply.headers['x-service-ignored'], 'prompt, timestamp_granularities');
    assert.deepEqual(formOf(asked[0]!.text), {
      model: 'voxtral-mini-transcribe-3',
      'timestamp_granularities[]': 'segment',
    });
  });
});

describe('hosts with forms of their own', () => {
  const word = (said: string, start: number, speaker: number) => ({
    text: said,
    start,
    end: start + 1,
    speaker,
  });

  test('xAI has no model, and its words become sentences of one speaker', async () => {
    const words = [word('Ruby', 0, 0), word('is.', 1, 0), word('A', 2, 0), word('gem.', 3, 1)];
    upstream.on('/xai/v1/stt', answerJson({ text, language: 'en', duration: 3.2, words }));
    const fields = { model: 'grok-stt', language: 'en', temperature: '0' };
    const { reply, asked } = await gateway.recordUpstream(async () =>
      ask(await newKey(), { ...fields, response_format: 'diarized_json' }),
    );
    assert.deepEqual(formOf(asked[0]!.text), { language: 'en', diarize: 'true' });
    assert.equal(reply.headers['x-service-ignored'], 'temperature');
    assert.equal(reply.costMicros, 400);
    const { segments: told } = reply.json<{ segments: { text: string; speaker: string }[] }>();
    assert.deepEqual(
      told.map((segment) => [segment.text, segment.speaker]),
      [
        ['Ruby is.', '0'],
        ['A', '0'],
        ['gem.', '1'],
      ],
    );
    const subtitles = await ask(await newKey(), { ...fields, response_format: 'srt' });
    assert.match(subtitles.text, /^1\n00:00:00,000 --> 00:00:02,000\nRuby is\./);
    const streamed = await ask(await newKey(), { ...fields, stream: 'true' });
    assert.equal(eventsOf(streamed).length, 3);
  });

  test('ElevenLabs gets its key in a header of its own', async () => {
    const words = [word('Ruby', 0, 0), { ...word(' ', 1, 0), type: 'spacing' }, word('is.', 1, 0)];
    upstream.on('/eleven/v1/speech-to-text', answerJson({ text, language_code: 'eng', words }));
    const fields = { model: 'scribe_v2', language: 'en', response_format: 'verbose_json' };
    const { reply, asked } = await gateway.recordUpstream(async () => ask(await newKey(), fields));
    const { 'xi-api-key': own, authorization } = asked[0]!.headers;
    assert.deepEqual([own, authorization], [upstreamKey, undefined]);
    assert.deepEqual(formOf(asked[0]!.text), {
      model_id: 'scribe_v2',
      tag_audio_events: 'false',
      language_code: 'en',
    });
    // It counts nothing, so it is our own reading.
    assert.equal(reply.costMicros, 400);
    const { segments: told, duration } = reply.json<{
      segments: { text: string }[];
      duration: number;
    }>();
    assert.deepEqual([told[0]!.text, duration], ['Ruby is.', 4]);
  });

  const listenPath = '/deepgram/v1/listen';
  const heard = (transcript: string, spoken: readonly object[], more: object = {}) => ({
    metadata: { duration: 3.6999376 },
    results: { channels: [{ alternatives: [{ transcript, words: spoken }], ...more }] },
  });
  const spokenWord = (said: string, start: number, speaker: number) => ({
    ...word(said, start, speaker),
    word: said.toLowerCase().replace('.', ''),
    punctuated_word: said,
  });
  const ruby = ['Ruby', 'is.', 'A', 'gem.'].map((said, at) => spokenWord(said, at, at < 3 ? 0 : 1));

  test('Deepgram gets the file alone, its wishes in the address, and its key with another word', async () => {
    upstream.on(
      listenPath,
      answerJson(heard('Ruby is. A gem.', ruby, { detected_language: 'en' })),
    );
    const file = wav(3.7);
    const fields = {
      model: 'nova-3',
      prompt: 'Ruby',
      response_format: 'verbose_json',
      'timestamp_granularities[]': 'word',
    };
    const { reply, asked } = await gateway.recordUpstream(async () =>
      ask(await newKey(), fields, { file }),
    );
    const { headers, query, text: sent } = asked[0]!;
    assert.equal(query, 'model=nova-3&smart_format=true&detect_language=true');
    assert.equal(headers.authorization, `Token ${upstreamKey}`);
    assert.deepEqual([headers['content-type'], sent], ['audio/wav', file.toString()]);
    assert.equal(Number(headers['content-length']), file.length);
    assert.deepEqual([reply.costMicros, reply.headers['x-service-ignored']], [400, 'prompt']);
    const answer = reply.json<{ words: object[]; segments: { text: string }[] }>();
    const { language, languages } = answer as Record<string, unknown>;
    assert.deepEqual([language, languages], ['en', [{ code: 'en' }]]);
    assert.deepEqual(answer.words[1], { word: 'is.', start: 1, end: 2 });
    assert.deepEqual(
      answer.segments.map((segment) => segment.text),
      ['Ruby is.', 'A', 'gem.'],
    );
  });

  test('what costs more at Deepgram has a model of its own, and cannot be had from a cheaper one', async () => {
    upstream.on(listenPath, answerJson(heard('Ruby is. A gem.', ruby)));
    const queryOf = async (fields: Record<string, string>) => {
      const { reply, asked } = await gateway.recordUpstream(async () =>
        ask(await newKey(), fields),
      );
      return asked[0]?.query ?? `${reply.status} ${reply.error.param}`;
    };
    const diarized = { response_format: 'diarized_json' };
    for (const [fields, expected] of [
      [{ model: 'nova-3', language: 'pt-BR' }, 'model=nova-3&smart_format=true&language=pt-BR'],
      [{ model: 'nova-3', language: '' }, 'model=nova-3&smart_format=true&detect_language=true'],
      [{ model: 'nova-3', language: 'multi' }, '400 language'],
      [{ model: 'nova-spanish', language: 'de' }, 'model=nova-3&smart_format=true&language=es'],
      [{ model: 'nova-3', language: 'en&diarize=true' }, '400 language'],
      [{ model: 'nova-3', ...diarized }, '400 response_format'],
      [
        { model: 'nova-3-multilingual', language: 'multi' },
        'model=nova-3&smart_format=true&language=multi',
      ],
      [
        { model: 'nova-3-multilingual', language: 'de', 'languages[]': 'fr' },
        'model=nova-3&smart_format=true&language=multi&language_hint=de&language_hint=fr',
      ],
      [
        { model: 'nova-3-diarize', language: 'en', ...diarized },
        'model=nova-3&smart_format=true&diarize_model=latest&language=en',
      ],
    ] as const)
      assert.equal(await queryOf(fields), expected);
    const fields = { model: 'nova-3-diarize', ...diarized };
    const told = await ask(await newKey(), fields);
    const { segments: sentences } = told.json<{ segments: { speaker: string }[] }>();
    assert.deepEqual(
      sentences.map(({ speaker }) => speaker),
      ['0', '0', '1'],
    );
    const streamed = await ask(await newKey(), { ...fields, stream: 'true' });
    assert.deepEqual(eventsOf(streamed).slice(0, 3), sentences);
    assert.equal((await ask(await newKey(), { ...diarized, model: 'nova-older' })).status, 200);
  });

  test('silence at Deepgram is an empty text, and its errors are not answers', async () => {
    upstream.on(listenPath, answerJson(heard('', [])));
    const made = await newKey();
    const silent = { model: 'nova-3', language: 'en' };
    assert.equal((await ask(made, silent)).json()['text'], '');
    const subtitles = await ask(made, { ...silent, response_format: 'vtt' });
    assert.deepEqual([subtitles.text, subtitles.costMicros], ['WEBVTT\n\n', 400]);
    const untimed = [{ word: 'ruby' }];
    upstream.on(listenPath, answerJson(heard('ruby', untimed)));
    assert.equal((await ask(made, { ...silent, response_format: 'srt' })).status, 502);
    upstream.on(listenPath, answerJson({ ...heard('', []), metadata: { duration: null } }));
    const verbose = await ask(made, { ...silent, response_format: 'verbose_json' });
    assert.deepEqual([verbose.json()['duration'], verbose.costMicros], [4, 400]);
    const error = { err_code: 'Bad Request', err_msg: 'failed to process audio: corrupt data' };
    for (const [status, model, expected] of [
      [400, 'nova-first', 400],
      [402, 'nova-first', 200],
      [403, 'nova-first', 200],
      [200, 'nova-first', 200],
      [200, 'nova-3', 502],
    ] as const) {
      upstream.on(listenPath, answerJson(error, { status }));
      const reply = await ask(made, { model });
      assert.equal(reply.status, expected, `${status} ${reply.text}`);
      if (expected === 200) assert.equal(reply.headers['x-service-route'], 'second');
      if (expected === 400) assert.match(reply.error.message, /corrupt data/);
    }
    assert.equal(await chargedMicros(made), 6 * 400);
  });

  test('Cohere must be told the language, and its text costs our own reading', async () => {
    const host = '/cohere/v2/audio/transcriptions';
    upstream.on(host, answerJson({ text: ' Ruby.' }));
    const made = await newKey();
    const fields = { model: 'cohere-transcribe', prompt: 'Ruby', temperature: '0' };
    for (const [more, param] of [
      [{}, 'language'],
      [{ language: 'en', response_format: 'srt' }, 'response_format'],
    ] as const) {
      const refused = await ask(made, { ...fields, ...more });
      assert.deepEqual([refused.status, refused.error.param], [400, param]);
    }
    const { reply, asked } = await gateway.recordUpstream(() =>
      ask(made, { ...fields, language: 'en' }),
    );
    assert.equal(reply.json()['text'], 'Ruby.');
    assert.deepEqual([reply.costMicros, reply.headers['x-service-ignored']], [400, 'prompt']);
    const { text: sent, headers } = asked[0]!;
    assert.deepEqual(formOf(sent), {
      model: 'cohere-transcribe-03-2026',
      language: 'en',
      temperature: '0',
    });
    // It reads the form as it comes.
    assert.ok(sent.indexOf('name="language"') < sent.indexOf('name="file"'));
    assert.equal(headers.authorization, `Bearer ${upstreamKey}`);
    assert.equal(await chargedMicros(made), 400);
  });

  test('Mistral is asked who speaks, and says it in OpenAI’s words', async () => {
    const told = { type: 'transcription_segment', text, start: 0.1, end: 3.6, speaker_id: 's1' };
    const usage = { prompt_audio_seconds: 3 };
    const answer = { model: 'voxtral', text, language: null, segments: [told], usage };
    upstream.on('/mistral/v1/audio/transcriptions', answerJson(answer));
    const fields = { model: 'voxtral-mini-transcribe-3', response_format: 'diarized_json' };
    const { reply, asked } = await gateway.recordUpstream(async () =>
      ask(await newKey(), { ...fields, language: 'en' }),
    );
    // It answers nothing to both times and a language.
    assert.deepEqual(formOf(asked[0]!.text), {
      model: 'voxtral-mini-transcribe-3',
      diarize: 'true',
      'timestamp_granularities[]': 'segment',
    });
    assert.equal(reply.headers['x-service-ignored'], 'language');
    const { segments: said, ...rest } = reply.json<{ segments: object[] }>();
    const { type: _, speaker_id: speaker, ...times } = told;
    const segment = { ...times, id: 'seg_0', type: 'transcript.text.segment', speaker };
    assert.deepEqual(said, [segment]);
    const usageTold = { type: 'duration', seconds: 3 };
    const expected = { task: 'transcribe', language: 'en', duration: 4, text, usage: usageTold };
    assert.deepEqual(rest, expected);
  });

  test('when hosts lack different things, the error names what the client can mend', async () => {
    for (const [response_format, at, said] of [
      ['diarized_json', path, /must not be diarized_json/],
      ['srt', '/v1/audio/translations', /must be json or text/],
    ] as const) {
      const fields = { model: 'asked-or-heard', response_format };
      const reply = await ask(await newKey(), fields, { at });
      assert.deepEqual([reply.status, reply.error.param], [400, 'response_format']);
      assert.match(reply.error.message, said);
    }
  });

  const geminiPath = '/v1beta/models/flash:generateContent';
  const geminiAnswer = {
    candidates: [{ content: { parts: [{ text: 'I think.', thought: true }, { text }] } }],
    usageMetadata: { promptTokenCount: 133, candidatesTokenCount: 10, thoughtsTokenCount: 21 },
  };

  test('Gemini gets every byte of the file, and what is held limits its answer', async () => {
    upstream.on(geminiPath, answerJson(geminiAnswer));
    for (const file of [wav(3.7), wav(0.001), wav(1, 24_576), wav(1, 24_577)]) {
      const fields = {
        model: 'asked',
        language: 'en',
        prompt: 'THE-FILE',
        'include[]': 'logprobs',
      };
      const { reply, asked } = await gateway.recordUpstream(async () =>
        ask(await newKey(), fields, { file }),
      );
      assert.equal(reply.json<{ text: string }>().text, text);
      assert.equal(reply.headers['x-service-ignored'], 'include');
      const body = asked[0]!.body as {
        contents: { parts: { text?: string; inlineData?: { mimeType: string; data: string } }[] }[];
        generationConfig: { maxOutputTokens: number };
      };
      const [audio, prompt] = body.contents[0]!.parts;
      assert.deepEqual(
        [audio!.inlineData!.mimeType, Buffer.from(audio!.inlineData!.data, 'base64').equals(file)],
        ['audio/wav', true],
      );
      assert.match(prompt!.text!, /word by word.*\n.*: en\n.*THE-FILE$/);
      const seconds = Math.max(Math.ceil(file.length / 1_000), 1);
      assert.equal(body.generationConfig.maxOutputTokens, 16 * seconds + 2_000);
    }
    const reply = await ask(await newKey(), { model: 'asked' });
    assert.equal(reply.costMicros, 133 + 31);
  });

  test('Gemini tells no times, and an answer that was blocked is free', async () => {
    const fields = { model: 'asked', response_format: 'srt' };
    const { reply, asked } = await gateway.recordUpstream(async () => ask(await newKey(), fields));
    assert.deepEqual([reply.status, reply.error.param, asked.length], [400, 'response_format', 0]);
    upstream.on(geminiPath, answerJson({ promptFeedback: { blockReason: 'SAFETY' } }));
    const made = await newKey();
    assert.equal((await ask(made, { model: 'asked' })).status, 502);
    assert.equal(await chargedMicros(made), 0);
  });
});

describe('the forms of an answer', () => {
  const verbose = answerJson({
    task: 'transcribe',
    language: 'english',
    duration: 3.7,
    text,
    segments,
  });

  test('text', async () => {
    const reply = await ask(await newKey(), { response_format: 'text' });
    assert.match(String(reply.headers['content-type']), /^text\/plain/);
    assert.equal(reply.text, `${text}\n`);
  });

  test('subtitles are written from segments, whose duration is charged', async () => {
    upstream.on(openAiPath, verbose);
    const { reply, asked } = await gateway.recordUpstream(async () =>
      ask(await newKey(), { response_format: 'srt' }),
    );
    assert.equal(
      reply.text,
      '1\n00:00:00,000 --> 00:00:01,500\nRuby\n\n2\n00:00:01,500 --> 01:02:03,250\nis a language.\n\n',
    );
    assert.equal(reply.costMicros, 400);
    assert.equal(formOf(asked[0]!.text)['response_format'], 'verbose_json');
    const vtt = await ask(await newKey(), { response_format: 'vtt' });
    assert.ok(vtt.text.startsWith('WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nRuby\n\n'), vtt.text);
  });

  test('subtitles are not lost where a client asks for the times of words alone', async () => {
    upstream.on(openAiPath, verbose);
    const fields = { response_format: 'srt', 'timestamp_granularities[]': 'word' };
    const { asked } = await gateway.recordUpstream(async () => ask(await newKey(), fields));
    assert.ok(!('timestamp_granularities[]' in formOf(asked[0]!.text)));
  });

  test('verbose_json has all that the host wrote', async () => {
    upstream.on(openAiPath, verbose);
    const reply = await ask(await newKey(), {
      response_format: 'verbose_json',
      'timestamp_granularities[]': 'segment',
    });
    const { segments: got, language } = reply.json<{ segments: object[]; language: string }>();
    assert.deepEqual([got, language], [segments, 'english']);
  });

  test('an answer without segments cannot become subtitles: free, within the loss budget', async () => {
    const made = await newKey();
    const reply = await ask(made, { response_format: 'vtt' });
    assert.equal(reply.status, 502);
    assert.equal(await chargedMicros(made), 0);
    assert.deepEqual(await gateway.lossesOf(reply.requestId), [800]);
    // The other host has times.
    upstream.on(secondPath, verbose);
    assert.equal((await ask(made, { response_format: 'vtt' })).costMicros, 400);
    const days = await rowsOf(gateway.database, 'loss_days', { ledger_id: `${made.account}:live` });
    assert.equal(days[0]?.provoked_micros, 800 + 400);
  });

  test('times without end are none', async () => {
    const endless = '{"start":0,"end":1e999,"text":"Ruby"}';
    upstream.on(openAiPath, answerJson(`{"text":"Ruby","segments":[${endless}]}`));
    const subtitles = await ask(await newKey(), { response_format: 'srt' });
    assert.equal(subtitles.status, 502, subtitles.text);
    upstream.on(openAiPath, answerJson('{"text":"Ruby","duration":1e999}'));
    const whole = await ask(await newKey(), { response_format: 'verbose_json' });
    assert.equal(whole.json<{ duration: number }>().duration, 4);
  });

  test('events of a model that does not stream', async () => {
    const { reply, asked } = await gateway.recordUpstream(async () =>
      ask(await newKey(), { stream: 'true' }),
    );
    assert.deepEqual(eventsOf(reply), [
      { type: 'transcript.text.delta', delta: text },
      {
        type: 'transcript.text.done',
        text,
        usage: { type: 'duration', seconds: 4, cost: 0.0004 },
      },
      '[DONE]',
    ]);
    assert.ok(!('stream' in formOf(asked[0]!.text)));
    assert.equal(reply.costMicros, 400);
  });

  test('a translation has its own path at the host', async () => {
    upstream.on('/v1/audio/translations', answerJson({ text }));
    const at = '/v1/audio/translations';
    assert.equal((await ask(await newKey(), {}, { at })).json()['text'], text);
    const fields = { model: 'voxtral-mini-transcribe-3' };
    const refused = await ask(await newKey(), fields, { at });
    assert.deepEqual([refused.status, refused.error.param], [400, 'model']);
  });
});

describe('a model billed by tokens', () => {
  test('costs what its host counts', async () => {
    const details = { text_tokens: 0, audio_tokens: 37 };
    upstream.on(
      openAiPath,
      answerJson({ text, usage: { ...counted, input_token_details: details } }),
    );
    const made = await newKey();
    const reply = await ask(made, { model: 'tokens' });
    assert.equal(reply.costMicros, 49);
    assert.deepEqual(reply.json()['usage'], { ...counted, input_token_details: details });
    const { input_tokens, output_tokens } = await recordOf(reply);
    assert.deepEqual([input_tokens, output_tokens], [37, 12]);
  });

  test('streams, and the last event waits for the charge', async () => {
    upstream.on(openAiPath, events);
    const { reply, asked } = await gateway.recordUpstream(async () =>
      ask(await newKey(), { model: 'tokens', stream: 'true' }),
    );
    assert.equal(formOf(asked[0]!.text)['stream'], 'true');
    assert.deepEqual(eventsOf(reply).slice(-2), [
      { type: 'transcript.text.done', text, usage: { ...counted, cost: 0.000049 } },
      '[DONE]',
    ]);
    assert.equal(eventsOf(reply).length, 4);
    assert.equal(reply.costMicros, 49);
  });

  const chunk = (content: string, end: object = {}) => ({
    data: { object: 'transcription.chunk', choices: [{ delta: { content }, ...end }] },
  });

  test('vLLM’s chunks become events', async () => {
    const last = chunk('', { finish_reason: 'stop' });
    const chunks = [chunk('Ruby'), last, chunk(' is a language.'), last, { data: '[DONE]' }];
    upstream.on(openAiPath, answerSse(chunks));
    const reply = await ask(await newKey(), { model: 'tokens', stream: 'true' });
    const [first, second, done] = eventsOf(reply) as { delta?: string; text?: string }[];
    assert.deepEqual([first!.delta, second!.delta, done!.text], ['Ruby', ' is a language.', text]);
    assert.equal(eventsOf(reply).length, 4);
  });

  for (const [shape, piece] of [
    ['', { data: { type: 'transcript.text.delta', delta: 'R' } }],
    [' of chunks', chunk('R')],
  ] as const)
    test(`that breaks off in mid-stream${shape} is free, and ends with an error`, async () => {
      upstream.on(openAiPath, answerSse([piece]));
      const made = await newKey();
      const reply = await ask(made, { model: 'tokens', stream: 'true' });
      const last = eventsOf(reply).at(-1) as { error: { code: string } };
      assert.equal(last.error.code, 'upstream_error');
      assert.equal(await chargedMicros(made), 0);
      assert.equal((await gateway.lossesOf(reply.requestId)).length, 1);
    });

  test('whose host counts no output costs our own count of the text', async () => {
    upstream.on(openAiPath, answerJson({ text, usage: { ...counted, output_tokens: 0 } }));
    const reply = await ask(await newKey(), { model: 'tokens' });
    assert.equal(reply.costMicros, 37 + Math.ceil(text.length / 4));
    upstream.on(openAiPath, answerJson({ text: '', usage: { ...counted, output_tokens: 0 } }));
    assert.equal((await ask(await newKey(), { model: 'tokens' })).costMicros, 37);
  });

  test('that counts nothing costs an estimate, and too much only what can be', async () => {
    upstream.on(openAiPath, answerJson({ text }));
    const reply = await ask(await newKey(), { model: 'tokens' });
    assert.equal(reply.costMicros, 14 * 4);
    const much = { ...counted, input_tokens: 9_000_000 };
    upstream.on(openAiPath, answerJson({ text, usage: much }));
    const capped = await ask(await newKey(), { model: 'tokens' });
    assert.ok(capped.costMicros! < 1_000, String(capped.costMicros));
    assert.equal((await gateway.lossesOf(capped.requestId)).length, 1);
  });
});

describe('a host that fails', () => {
  test('answers no text: another host gets the whole file', async () => {
    upstream.on(openAiPath, answerJson({ segments: [] }));
    const made = await newKey();
    const { reply, asked } = await gateway.recordUpstream(() => ask(made));
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers['x-service-route'], 'second');
    const [first, second] = asked.map((one) => Number(one.headers['content-length']));
    assert.equal(second, first! + 'second-host'.length - 'first-host'.length);
    assert.equal(await chargedMicros(made), 400);
  });

  for (const answer of ['HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n', ''])
    test(`${answer === '' ? 'hangs up' : 'answers'} before it has read the file: another one serves`, async () => {
      const hasty = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(answer, () => socket.destroy()));
      });
      await new Promise<void>((resolve) => void hasty.listen(hastyPort, '127.0.0.1', resolve));
      const made = await newKey();
      const reply = await ask(made, { model: 'hasty' }, { file: wav(300) });
      hasty.close();
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.headers['x-service-route'], 'second');
      assert.equal(await chargedMicros(made), 400);
    });
});

describe('money', () => {
  test('a file that does not say its length holds by its bytes', async () => {
    const made = await newKey({ creditUsd: 0.001 });
    const reply = await ask(made, {}, { file: Buffer.alloc(50_000, 3) });
    assert.equal(reply.status, 402);
    assert.equal(reply.error.details?.['affordable_seconds'], 10);
  });
});

describe('a repeated request', () => {
  for (const [form, fields] of [
    ['json', {}],
    ['text', { response_format: 'text' }],
    ['events', { stream: 'true' }],
  ] as const)
    test(`with its Idempotency-Key gets the same ${form}, free; another file is a conflict`, async () => {
      const made = await newKey();
      const headers = { 'idempotency-key': `audio-${form}` };
      const first = await ask(made, fields, {}, headers);
      const { reply: again, asked } = await gateway.recordUpstream(() =>
        ask(made, fields, { fileFirst: false }, headers),
      );
      assert.equal(asked.length, 0);
      assert.equal(again.headers['content-type'], first.headers['content-type']);
      assert.equal(again.costMicros, 0);
      if (form !== 'events') assert.equal(again.text, first.text);
      const other = await ask(made, fields, { file: wav(2) }, headers);
      assert.equal(other.error.code, 'idempotency_conflict');
      assert.equal(await chargedMicros(made), 400);
    });
});

describe('what is refused', () => {
  for (const [param, fields] of [
    ['model', { model: '' }],
    ['response_format', { response_format: 'pdf' }],
    ['response_format', { response_format: 'srt', stream: 'true' }],
    ['stream', { stream: 'maybe' }],
    ['temperature', { temperature: 'warm' }],
    ['temperature', { temperature: '1.1' }],
  ] as const)
    test(`${param} as ${JSON.stringify(fields)}`, async () => {
      const reply = await ask(await newKey(), fields);
      assert.deepEqual([reply.status, reply.error.param], [400, param]);
    });

  test('an empty file, no file, two files, and JSON', async () => {
    const { key } = await newKey();
    const once = audioForm({ model: 'seconds' }, wav(1)).body;
    const two = Buffer.concat([once.subarray(0, -'--b--\r\n'.length), once]);
    const twice = await gateway.post(path, { key, headers: formHeaders, body: two });
    assert.deepEqual([twice.status, twice.error.message], [400, 'file must come once']);
    const empty = await ask({ key }, {}, { file: Buffer.alloc(0) });
    assert.deepEqual([empty.status, empty.error.param], [400, 'file']);
    const headers = formHeaders;
    const body = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nseconds\r\n--b--\r\n';
    const none = await gateway.post(path, { key, headers, body });
    assert.deepEqual([none.status, none.error.param], [400, 'file']);
    assert.equal((await gateway.post(path, { key, body: {} })).status, 415);
    for (const broken of ['', 'x', '--b', '--b--', '--b\r\n\r\n--b--', '--b\r\nx: y\r\n\r\nz'])
      assert.equal((await gateway.post(path, { key, headers, body: broken })).status, 400, broken);
  });

  test('a body over the limit, by its length or its bytes', async () => {
    const { key } = await newKey();
    assert.equal((await ask({ key }, {}, { file: Buffer.alloc(3_000_001) })).status, 413);
  });
});

test('an upload that is cut costs nothing, and no file stays on disk', async () => {
  const made = await newKey();
  const sent = httpRequest(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${made.key}`,
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': '2000000',
    },
  });
  sent.on('error', () => {});
  await new Promise((resolve) => sent.write(Buffer.alloc(100_000), resolve));
  sent.destroy();
  await ask(made);
  assert.equal(await chargedMicros(made), 400);
  assert.deepEqual(readdirSync(join(gateway.program.dataDir, 'uploads')), []);
});

describe('with a test key', () => {
  const newTestKey = () => gateway.makeKey({ mode: 'test' });

  test('the sandbox hears the length, in every form', async () => {
    const made = await newTestKey();
    const reply = await ask(made);
    assert.equal(reply.json()['text'], 'The sandbox heard 4 seconds of audio.');
    assert.equal(reply.costMicros, 400);
    assert.match((await ask(made, { response_format: 'srt' })).text, /--> 00:00:04,000/);
    const diarized = { response_format: 'diarized_json' };
    const told = await ask(made, { ...diarized, model: 'nova-3-diarize' });
    const { segments: said } = told.json<{ segments: { speaker: string; id: string }[] }>();
    assert.deepEqual([said[0]!.speaker, said[0]!.id, told.costMicros], ['A', 'seg_0', 400]);
    assert.equal((await ask(made, { ...diarized, model: 'nova-3' })).status, 400);
    const streamed = await ask(made, { stream: 'true', model: 'tokens' });
    assert.equal(streamed.costMicros, 50);
  });
});

describe('the official openai package', () => {
  for (const mode of ['live', 'test'] as const)
    test(`transcribes with a ${mode} key, whole and streamed`, async () => {
      const { key } = await gateway.makeKey({ mode, ...(mode === 'live' && { creditUsd: 1 }) });
      const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
      const file = await toFile(wav(3.7), 'ruby.wav');
      const whole = await client.audio.transcriptions.create({ model: 'seconds', file });
      const said = mode === 'live' ? text : 'The sandbox heard 4 seconds of audio.';
      assert.equal(whole.text, said);
      const stream = await client.audio.transcriptions.create({
        model: 'seconds',
        file,
        stream: true,
      });
      const types: string[] = [];
      for await (const event of stream) types.push(event.type);
      assert.deepEqual(types, ['transcript.text.delta', 'transcript.text.done']);
    });
});
