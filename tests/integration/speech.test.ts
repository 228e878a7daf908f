// `POST /v1/audio/speech` over real HTTP, with local servers in place of the hosts: audio, charges and
// refusals.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import OpenAI from 'openai';
import { startGateway, upstreamKey, type KeyOptions } from '../support/gateway.ts';
import { readFrames, Reply } from '../support/http.ts';
import { routesTo } from '../support/model-of.ts';
import {
  answerBytes,
  answerJson,
  answerSse,
  framesText,
  thenReset,
  type Script,
} from '../support/upstream.ts';

const path = '/v1/audio/speech';
const openAiPath = path;
const secondPath = '/second/v1/audio/speech';
const geminiPath = '/v1beta/models/gemini-3.8-flash-tts:generateContent';
/** A microdollar a character. */
const byCharacters = { input: 0, output: 0, million_characters: 1 };
/** A microdollar a token. */
const byTokens = { input: 1, output: 1 };
const type = 'speech';

const gateway = await startGateway(
  (upstream) => {
    const at = (place: string) => ({ base_url: upstream.url + place, api_key: upstreamKey });
    return {
      providers: {
        second: { kind: 'openai-compatible', ...at('/second/v1') },
        groq: at('/groq/v1'),
        mistral: at('/mistral/v1'),
        xai: at('/xai/v1'),
        elevenlabs: at('/eleven/v1'),
        deepgram: at('/deepgram/v1'),
      },
      models: {
        letters: {
          type,
          prices: byCharacters,
          routes: routesTo({ openai: 'first-host', second: 'second-host' }),
        },
        tokens: {
          type,
          prices: byTokens,
          routes: routesTo({ openai: 'mini' }),
          timeouts: { total_ms: 1_000 },
        },
        'voxtral-mini-tts-3': { prices: byCharacters },
        'orpheus-v1-english': { prices: byCharacters },
        'gemini-3.8-flash-tts': { prices: byTokens },
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
  creditUsd * 1_000_000 - (await gateway.balance(account)).availableMicros;

/** Eight code points, in ten bytes of UTF-8 and more. */
const input = 'Hé, 🦊 x!';
const audio = Buffer.from([0xff, 0xf3, 0, 0x80, 0xfe, 1, 2, 3]);

class Spoken extends Reply {
  readonly bytes: Buffer;
  readonly isCut: boolean;

  constructor(
    ...[response, bytes, isCut]: [ConstructorParameters<typeof Reply>[0], Buffer, boolean]
  ) {
    super(response, bytes.toString('utf8'), `POST ${path}`);
    this.bytes = bytes;
    this.isCut = isCut;
  }
}

async function speak(
  { key }: Pick<Made, 'key'>,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<Spoken> {
  const body = { model: 'letters', input, voice: 'alloy', ...fields };
  const response = await gateway.open(path, { key, body, headers }).response;
  const pieces: Buffer[] = [];
  let isCut = false;
  try {
    for await (const piece of response) pieces.push(piece as Buffer);
  } catch {
    isCut = true;
  }
  return new Spoken(response, Buffer.concat(pieces), isCut);
}

/** The audio of an answer in events. */
function audioOf({ text }: Reply): Buffer {
  const deltas = readFrames(text).flatMap(({ data }) => {
    const { audio: piece } = data as { audio?: string };
    return piece === undefined ? [] : [Buffer.from(piece, 'base64')];
  });
  return Buffer.concat(deltas);
}

const lastOf = ({ text }: Reply) => readFrames(text).at(-1)?.data as Record<string, unknown>;

const sendAudio =
  (contentType = 'audio/mpeg', ...pieces: readonly Buffer[]): Script =>
  (response) => {
    response.writeHead(200, { 'content-type': contentType });
    for (const piece of pieces.length > 0 ? pieces : [audio]) response.write(piece);
    response.end();
  };

const delta = (bytes: Buffer) => ({
  data: { type: 'speech.audio.delta', audio: bytes.toString('base64') },
});
const done = (usage?: object) => ({ data: { type: 'speech.audio.done', ...(usage && { usage }) } });
const counted = { input_tokens: 5, output_tokens: 30, total_tokens: 35 };
const events = answerSse([delta(audio.subarray(0, 3)), delta(audio.subarray(3)), done(counted)]);

const geminiAnswer = (pcm: Buffer) => ({
  candidates: [
    {
      content: {
        parts: [
          {
            inlineData: {
              mimeType: 'audio/L16;codec=pcm;rate=24000',
              data: pcm.toString('base64'),
            },
          },
        ],
      },
    },
  ],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 20 },
});

beforeEach(() => {
  upstream.on(openAiPath, sendAudio());
  upstream.on(secondPath, sendAudio());
});

/** The whole usage record of a request. */
const recordOf = ({ requestId }: Pick<Reply, 'requestId'>) =>
  gateway.database.read
    .selectFrom('charges')
    .selectAll()
    .where('id', '=', requestId)
    .executeTakeFirstOrThrow();

async function sentBy(ask: () => Promise<Reply>) {
  const { reply, asked } = await gateway.recordUpstream(ask);
  return { reply: reply as Spoken, sent: asked.map(({ text }) => JSON.parse(text) as object) };
}

describe('a model billed by characters', () => {
  test('costs its price for each code point, and sends the bytes', async () => {
    const made = await newKey();
    const { reply, sent } = await sentBy(() =>
      speak(made, { instructions: 'Whisper', speed: 2, foo: 1 }),
    );
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(reply.bytes, audio);
    assert.equal(reply.headers['content-type'], 'audio/mpeg');
    assert.equal(reply.headers['x-service-ignored'], 'foo');
    assert.equal(reply.trailers['x-service-cost-micros'], '8');
    assert.equal(await chargedMicros(made), 8);
    assert.deepEqual(sent, [
      {
        model: 'first-host',
        input,
        voice: 'alloy',
        response_format: 'mp3',
        instructions: 'Whisper',
        speed: 2,
      },
    ]);
    const { model_id, endpoint, streamed, usage_source } = await recordOf(reply);
    assert.deepEqual(
      [model_id, endpoint, streamed, usage_source],
      ['letters', 'speech', 1, 'upstream'],
    );
  });

  test('sends events to a client that asks for them, whatever its host can', async () => {
    const made = await newKey();
    const long = Buffer.alloc(100_000, 7);
    upstream.on(openAiPath, sendAudio('audio/mpeg', audio, long));
    const { reply, sent } = await sentBy(() => speak(made, { stream_format: 'sse' }));
    assert.match(String(reply.headers['content-type']), /^text\/event-stream/);
    assert.deepEqual(audioOf(reply), Buffer.concat([audio, long]));
    assert.deepEqual(lastOf(reply), {
      type: 'speech.audio.done',
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost: 0.000008 },
    });
    assert.ok(!('stream_format' in sent[0]!));
    assert.equal(await chargedMicros(made), 8);
  });
});

describe('a model billed by tokens', () => {
  test('is asked for events, whose count is charged, and sends bytes', async () => {
    upstream.on(openAiPath, events);
    const made = await newKey();
    const { reply, sent } = await sentBy(() =>
      speak(made, { model: 'tokens', response_format: 'wav' }),
    );
    assert.deepEqual(reply.bytes, audio);
    assert.equal(reply.headers['content-type'], 'audio/wav');
    assert.equal((sent[0] as { stream_format: string }).stream_format, 'sse');
    assert.equal(reply.costMicros, 35);
    assert.equal(await chargedMicros(made), 35);
    const [record] = await gateway.usage(made.key);
    assert.deepEqual([record!['input_tokens'], record!['output_tokens']], [5, 30]);
  });

  test('is read the same, wherever its stream is cut into pieces', async () => {
    const frames = framesText([
      delta(audio.subarray(0, 3)),
      delta(audio.subarray(3)),
      done(counted),
    ]);
    for (const sizes of [[1], [7], [40, 1], [1_000]]) {
      upstream.on(openAiPath, answerBytes(Buffer.from(frames), { sizes }));
      const reply = await speak(await newKey(), { model: 'tokens' });
      assert.deepEqual(reply.bytes, audio);
      assert.equal(reply.costMicros, 35);
    }
  });

  test('is read where its events call the audio `delta`, as vLLM’s do', async () => {
    const data = { type: 'speech.audio.delta', delta: audio.toString('base64') };
    upstream.on(openAiPath, answerSse([{ data }, done(counted)]));
    assert.deepEqual((await speak(await newKey(), { model: 'tokens' })).bytes, audio);
  });

  test('sends events with what was charged', async () => {
    upstream.on(openAiPath, events);
    const reply = await speak(await newKey(), { model: 'tokens', stream_format: 'sse' });
    assert.deepEqual(audioOf(reply), audio);
    assert.deepEqual(lastOf(reply)['usage'], { ...counted, cost: 0.000035 });
  });

  test('that counts more than was held: the excess is the operator’s loss', async () => {
    const many = { input_tokens: 100_000, output_tokens: 200_000 };
    upstream.on(openAiPath, answerSse([delta(audio), done(many)]));
    const made = await newKey();
    const reply = await speak(made, { model: 'tokens' });
    assert.ok(reply.costMicros! < 1_000, String(reply.costMicros));
    assert.equal(await chargedMicros(made), reply.costMicros);
    assert.equal(reply.costMicros, Number(reply.headers['x-service-reserved-micros']));
    assert.deepEqual(await gateway.lossesOf(reply.requestId), [300_000 - reply.costMicros]);
  });

  for (const [what, usage] of [
    ['nothing', undefined],
    ['no audio', { input_tokens: 5, output_tokens: 0 }],
    ['no input', { input_tokens: 0, output_tokens: 24 }],
  ] as const)
    test(`that counts ${what}: our estimate is charged`, async () => {
      upstream.on(openAiPath, answerSse([delta(audio), done(usage)]));
      const made = await newKey();
      const reply = await speak(made, { model: 'tokens' });
      // Two tokens for each of the 12 bytes, and the input.
      assert.ok(reply.costMicros! > 24 && reply.costMicros! < 40, String(reply.costMicros));
      assert.equal((await recordOf(reply)).usage_source, 'estimate');
    });
});

describe('hosts with forms of their own', () => {
  test('Mistral answers JSON', async () => {
    upstream.on('/mistral/v1/audio/speech', answerJson({ audio_data: audio.toString('base64') }));
    const made = await newKey();
    const { reply, sent } = await sentBy(() =>
      speak(made, { model: 'voxtral-mini-tts-3', instructions: 'Whisper', speed: 1 }),
    );
    assert.deepEqual(reply.bytes, audio);
    assert.equal(reply.headers['x-service-ignored'], 'instructions, speed');
    assert.deepEqual(sent, [
      { model: 'voxtral-mini-tts-3', input, voice: 'alloy', response_format: 'mp3' },
    ]);
    assert.equal(await chargedMicros(made), 8);
  });

  test('xAI and ElevenLabs', async () => {
    const flash = '/eleven/v1/text-to-speech/abc';
    upstream.on('/xai/v1/tts', sendAudio('audio/pcm'));
    upstream.on(flash, sendAudio('audio/mpeg'));
    const made = await newKey();
    const { reply, sent } = await sentBy(() =>
      speak(made, { model: 'grok-tts', response_format: 'pcm' }),
    );
    assert.deepEqual(reply.bytes, audio);
    const output_format = { codec: 'pcm', sample_rate: 24_000 };
    assert.deepEqual(sent, [{ text: input, voice_id: 'alloy', language: 'auto', output_format }]);
    // Eight characters, of 4.2 and of 40 microdollars.
    const charged = await chargedMicros(made);
    assert.equal(charged, 34);
    const voice = '../a/b?c';
    const { asked } = await gateway.recordUpstream(() =>
      speak(made, { model: 'eleven_flash_v2_5', voice }),
    );
    const { path: called, query, headers, body } = asked[0]!;
    assert.deepEqual([called, query], [flash, 'output_format=mp3_44100_128']);
    assert.deepEqual([headers['xi-api-key'], headers.authorization], [upstreamKey, undefined]);
    assert.deepEqual(body, { text: input, model_id: 'eleven_flash_v2_5' });
    assert.equal(await chargedMicros(made), charged + 320);
  });

  test('Deepgram’s voices are models, and none of a dearer one can be had', async () => {
    upstream.on('/deepgram/v1/speak', sendAudio('audio/mpeg'));
    const made = await newKey();
    const queryOf = async (body: Record<string, unknown>) => {
      const { asked } = await gateway.recordUpstream(() => speak(made, body));
      const { query, headers, body: sent } = asked[0]!;
      assert.equal(headers.authorization, `Token ${upstreamKey}`);
      assert.deepEqual(sent, { text: input });
      return query;
    };
    const short = { model: 'aura-2', voice: 'thalia-en' };
    assert.equal(await queryOf(short), 'model=aura-2-thalia-en&encoding=mp3');
    // Eight characters, of 30 microdollars.
    assert.equal(await chargedMicros(made), 240);
    const whole = {
      model: 'aura-2',
      voice: 'aura-2-thalia-en',
      response_format: 'pcm',
      speed: 1.2,
    };
    assert.equal(
      await queryOf(whole),
      'model=aura-2-thalia-en&encoding=linear16&container=none&sample_rate=24000&speed=1.2',
    );
    for (const voice of ['2-thalia-en', 'aura-2-thalia-en', '2&model=aura-2-thalia-en'])
      assert.doesNotMatch(await queryOf({ model: 'aura', voice }), /aura-2|&model/);
  });

  test('Groq makes WAV only', async () => {
    upstream.on('/groq/v1/audio/speech', sendAudio('audio/wav'));
    const { reply, sent } = await sentBy(async () =>
      speak(await newKey(), { model: 'orpheus-v1-english' }),
    );
    assert.deepEqual(reply.bytes, audio);
    assert.equal(reply.headers['content-type'], 'audio/wav');
    assert.equal((sent[0] as { response_format: string }).response_format, 'wav');
    const refused = await speak(await newKey(), {
      model: 'orpheus-v1-english',
      response_format: 'mp3',
    });
    assert.deepEqual([refused.status, refused.error.param], [400, 'response_format']);
    assert.match(refused.error.message, /\bwav\b/);
  });

  test('Gemini answers PCM, which becomes a WAV file', async () => {
    const pcm = Buffer.from([1, 0, 2, 0, 3, 0]);
    upstream.on(geminiPath, answerJson(geminiAnswer(pcm)));
    const made = await newKey();
    const { reply, sent } = await sentBy(() =>
      speak(made, { model: 'gemini-3.8-flash-tts', voice: 'Kore' }),
    );
    assert.equal(reply.headers['content-type'], 'audio/wav');
    assert.equal(reply.bytes.toString('latin1', 0, 4), 'RIFF');
    assert.equal(reply.bytes.readUInt32LE(24), 24_000);
    assert.equal(reply.bytes.readUInt32LE(40), pcm.length);
    assert.deepEqual(reply.bytes.subarray(44), pcm);
    assert.equal(await chargedMicros(made), 24);
    assert.match(JSON.stringify(sent[0]), /"voiceName":"Kore"/);
    const plain = await speak(made, { model: 'gemini-3.8-flash-tts', response_format: 'pcm' });
    assert.deepEqual(plain.bytes, pcm);
  });
});

describe('a host that fails before its first byte', () => {
  const faults: Readonly<Record<string, { readonly script: Script; readonly lost: number }>> = {
    'answers a page': { script: sendAudio('text/html', Buffer.from('<p>busy</p>')), lost: 8 },
    'answers nothing': {
      script: (response) => void sendAudio('audio/mpeg', Buffer.alloc(0))(response, null!),
      lost: 8,
    },
    'resets the connection': {
      script: thenReset('', { headers: { 'content-type': 'audio/mpeg' } }),
      lost: 8,
    },
  };
  for (const [fault, { script, lost }] of Object.entries(faults)) {
    test(`${fault}: another host of the model answers`, async () => {
      upstream.on(openAiPath, script);
      const made = await newKey();
      const reply = await speak(made);
      assert.deepEqual(reply.bytes, audio, reply.text);
      assert.equal(reply.headers['x-service-route'], 'second');
      assert.equal(await chargedMicros(made), 8);
      const losses = await gateway.lossesOf(reply.requestId);
      assert.equal(
        losses.reduce((sum, one) => sum + one, 0),
        lost,
      );
    });
  }
});

describe('a host that breaks off after its first byte', () => {
  const cut = thenReset(audio, { headers: { 'content-type': 'audio/mpeg' } });

  test('cuts the connection of a client that gets bytes: free, and a loss', async () => {
    upstream.on(openAiPath, cut);
    const made = await newKey();
    const { reply, sent } = await sentBy(() => speak(made));
    assert.equal(reply.status, 200);
    assert.ok(reply.isCut);
    assert.equal(sent.length, 1);
    assert.equal(await chargedMicros(made), 0);
    assert.deepEqual(await gateway.usage(made.key), []);
    assert.deepEqual(await gateway.lossesOf(reply.requestId), [8]);
  });

  test('ends events with an error', async () => {
    upstream.on(openAiPath, cut);
    const made = await newKey();
    const reply = await speak(made, { stream_format: 'sse' });
    assert.ok(!reply.isCut);
    assert.deepEqual(audioOf(reply), audio);
    assert.equal((lastOf(reply)['error'] as { code: string }).code, 'upstream_error');
    assert.equal(await chargedMicros(made), 0);
  });

  for (const [fault, last] of [
    ['no last event', null],
    ['an error', { data: { error: { message: 'overloaded' } } }],
    ['an event that is no JSON', { data: 'x{' }],
    ['audio that is no base64', { data: { type: 'speech.audio.delta', audio: 5 } }],
  ] as const)
    test(`${fault} is a failure, too`, async () => {
      upstream.on(openAiPath, answerSse(last ? [delta(audio), last] : [delta(audio)]));
      const made = await newKey();
      const reply = await speak(made, { model: 'tokens' });
      assert.ok(reply.isCut);
      assert.deepEqual(reply.bytes, audio);
      assert.equal(await chargedMicros(made), 0);
      assert.equal((await gateway.lossesOf(reply.requestId)).length, 1);
    });
});

test('audio is passed on as it comes', async () => {
  const rest = Promise.withResolvers<void>();
  upstream.on(openAiPath, async (response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.write(audio);
    await rest.promise;
    response.end(audio);
  });
  const { key } = await newKey();
  const body = { model: 'letters', input, voice: 'alloy' };
  const response = await gateway.open(path, { key, body }).response;
  const pieces: Buffer[] = [];
  for await (const piece of response) {
    pieces.push(piece as Buffer);
    // The host has not ended yet.
    rest.resolve();
  }
  assert.deepEqual(Buffer.concat(pieces), Buffer.concat([audio, audio]));
});

test('a client that leaves pays what the host goes on to make', async () => {
  const rest = Promise.withResolvers<void>();
  upstream.on(openAiPath, async (response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.write(audio);
    await rest.promise;
    response.end(audio);
  });
  const made = await newKey();
  const body = { model: 'letters', input, voice: 'alloy' };
  const { request, response } = gateway.open(path, { key: made.key, body });
  const requestId = String((await response).headers['x-request-id']);
  request.destroy();
  // The gateway has seen it by then.
  await gateway.get('/v1/models', { key: made.key });
  rest.resolve();
  while ((await gateway.usage(made.key)).length === 0) await new Promise(setImmediate);
  assert.equal(await chargedMicros(made), 8);
  assert.equal((await recordOf({ requestId })).ending, 'cut-off');
});

describe('money', () => {
  test('the hold for tokens covers slow speech in any script', async () => {
    upstream.on(openAiPath, events);
    const made = await newKey();
    const held = async (fields: object) =>
      Number(
        (await speak(made, { model: 'tokens', ...fields })).headers['x-service-reserved-micros'],
      );
    const usual = await held({ input: 'aaaaaaaaaa' });
    assert.ok(usual >= 200, String(usual));
    assert.ok((await held({ input: 'aaaaaaaaaa', speed: 0.5 })) >= 300);
    assert.ok((await held({ input: '日本語日本語日本語日' })) >= 400);
  });
});

// `tasks.test.ts` has the same for bytes.
describe('a repeated request', () => {
  const fields = { stream_format: 'sse' };

  test('with its Idempotency-Key gets the same events, free', async () => {
    const made = await newKey();
    const headers = { 'idempotency-key': 'speech-events' };
    const first = await speak(made, fields, headers);
    const { reply: again, sent } = await sentBy(() => speak(made, fields, headers));
    assert.equal(sent.length, 0);
    assert.equal(again.headers['content-type'], first.headers['content-type']);
    assert.deepEqual(audioOf(again), audioOf(first));
    assert.equal(again.costMicros, 0);
    assert.equal(await chargedMicros(made), 8);
  });

  test('is answered from the cache if a header asks for it, as events', async () => {
    const made = await newKey();
    const headers = { 'x-service-cache': 'true' };
    await speak(made, fields, headers);
    const { reply: again, sent } = await sentBy(() => speak(made, fields, headers));
    assert.equal(sent.length, 0);
    assert.equal(again.headers['x-service-cache'], 'hit');
    assert.deepEqual(audioOf(again), audio);
    assert.equal(await chargedMicros(made), 8);
  });

  test('of an answer that broke off runs again', async () => {
    upstream.on(openAiPath, thenReset(audio, { headers: { 'content-type': 'audio/mpeg' } }));
    const made = await newKey();
    const headers = { 'idempotency-key': 'speech-broken' };
    assert.ok((await speak(made, {}, headers)).isCut);
    upstream.on(openAiPath, sendAudio());
    assert.deepEqual((await speak(made, {}, headers)).bytes, audio);
    assert.equal(await chargedMicros(made), 8);
  });
});

describe('what is refused', () => {
  for (const [param, fields] of [
    ['input', { input: '' }],
    ['input', { input: ' \n' }],
    ['voice', { voice: undefined }],
    ['voice', { voice: { id: 'voice_1' } }],
    ['speed', { speed: 5 }],
    ['response_format', { response_format: 'midi' }],
    ['stream_format', { stream_format: 'websocket' }],
  ] as const)
    test(`${param} as ${JSON.stringify(fields)}`, async () => {
      const reply = await speak(await newKey(), fields);
      assert.deepEqual([reply.status, reply.error.param], [400, param]);
    });
});

describe('with a test key', () => {
  const newTestKey = () => gateway.makeKey({ mode: 'test' });

  test('the sandbox says the same every time, and charges as live', async () => {
    const { key } = await newTestKey();
    const one = await speak({ key }, { response_format: 'wav' });
    const two = await speak({ key }, { response_format: 'wav' });
    assert.deepEqual(one.bytes, two.bytes);
    assert.equal(one.bytes.readUInt32LE(40), one.bytes.length - 44);
    assert.equal(one.costMicros, 8);
    assert.equal(one.headers['x-service-mode'], 'test');
  });

  test('MP3 has a frame of 96 bytes for each character', async () => {
    const { bytes } = await speak(await newTestKey(), { input: 'abc' });
    assert.deepEqual(
      [bytes.length, bytes.readUInt16BE(0), bytes.readUInt16BE(96)],
      [288, 0xfff3, 0xfff3],
    );
  });

  test('the other formats come as WAV', async () => {
    const reply = await speak(await newTestKey(), { response_format: 'flac' });
    assert.equal(reply.headers['content-type'], 'audio/wav');
  });

  test('directives fail it, before or after the first byte', async () => {
    const made = await newTestKey();
    const failed = await speak(made, { input: 'sandbox: status=503\nHello' });
    assert.equal(failed.status, 503);
    const cut = await speak(made, { input: `sandbox: cut_after=1\n${'Hello '.repeat(20)}` });
    assert.ok(cut.isCut);
    assert.equal(cut.bytes.length, 20 * 96);
    const bad = await speak(made, { input: 'sandbox: sing=1' });
    assert.equal(bad.status, 400);
  });
});

describe('the official openai package', () => {
  for (const mode of ['live', 'test'] as const)
    test(`reads the audio of a ${mode} key`, async () => {
      const { key } = await gateway.makeKey({ mode, ...(mode === 'live' && { creditUsd: 1 }) });
      const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
      const speech = await client.audio.speech.create({ model: 'letters', input, voice: 'alloy' });
      const bytes = Buffer.from(await speech.arrayBuffer());
      if (mode === 'live') assert.deepEqual(bytes, audio);
      else assert.equal(bytes.length, 8 * 96);
    });
});
