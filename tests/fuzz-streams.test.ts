// Malformed upstream streams through every reader, writer and relay (a hundred thousand in `npm run
// test:all -- fuzz`). Each must end as its format ends an answer or an error. None may throw, hang,
// count absurdly or grow out of proportion.
//
//   TOLLGATE_TEST_SEED=123 FUZZ_STREAMS=1000000 node --test tests/fuzz-streams.test.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName, UpstreamFormatName } from '../src/terms/format-name.ts';
import { upstreamFormats } from '../src/formats/registry.ts';
import { EventStreamParser } from '../src/lib/event-stream.ts';
import { loadCloudRecordings } from './support/cloud-recordings.ts';
import {
  answerContext,
  clientNames,
  openPipe,
  playStream,
  type StreamResult,
} from './support/pipes.ts';
import { eventsOf } from './support/plain/reading.ts';
import { cutAtRandom, Random } from './support/random.ts';
import { loadRecordings } from './support/recordings.ts';
import { checkStream } from './support/stream-rules.ts';
import { converseTurns } from './support/turns-converse.ts';
import { framesText } from './support/upstream.ts';
import { scaled } from './support/volume.ts';
import { makeMalformedStream, splitEvents, type WireEvent } from './support/malformed-streams.ts';

const streams = Number(process.env.FUZZ_STREAMS ?? scaled(10_000, 50_000));

const answers = [
  ...loadRecordings().filter(({ status, stream }) => stream && status === 200),
  ...converseStreams(),
];
const upstreamNames = Object.keys(upstreamFormats) as UpstreamFormatName[];
const pairs = upstreamNames.flatMap((upstream) =>
  clientNames.map((client) => ({ upstream, client })),
);

for (const { upstream, client } of pairs) {
  test(`malformed ${upstream} streams end properly for a ${client} client`, (t) => {
    const sources = answers
      .filter(({ format }) => format === upstream)
      .map(({ bytes }) => splitEvents(bytes.toString('utf8')));
    const count = Math.ceil(streams / pairs.length);
    const endings = { success: 0, error: 0 };
    for (let index = 0; index < count; index++)
      endings[checkMalformedStream({ upstream, client, sources, index })]++;
    t.diagnostic(`${count} streams, ${endings.success} ended well, ${endings.error} with an error`);
    // If all were refused at once, nothing would have been tested.
    assert.ok(endings.success > count / 20 && endings.error > count / 20, JSON.stringify(endings));
  });
}

for (const { upstream, client } of pairs) {
  test(`a ${upstream} event nested deeper than V8 can write ends a ${client} client's stream with a billed error`, () => {
    const source = answers.find(({ format }) => format === upstream)!;
    const events = splitEvents(source.bytes.toString('utf8'));
    const deep = `"nested":${'{"a":['.repeat(20_000)}${']}'.repeat(20_000)},`;
    for (const at of [0, Math.floor(events.length / 2), events.length - 1]) {
      const text = events
        .map(({ event, data }, index) => {
          const line = event === '' ? '' : `event: ${event}\n`;
          return `${line}data: ${index === at ? data.replace('{', `{${deep}`) : data}\n\n`;
        })
        .join('');
      const played = playStream(openPipe(upstream, client, answerContext(client)), [
        Buffer.from(text),
      ]);
      const isLastLine = !events[at]!.data.startsWith('{');
      assert.equal(played.pipe.progress.failure?.isBilled, isLastLine ? undefined : true);
      checkEnding(played, upstream, client);
    }
  });
}

/** Bedrock's streams are binary: these are the events in them. */
function converseStreams() {
  const call = { id: 'tooluse_1', name: 'get_weather', arguments: { city: 'Oslo' } };
  const turns = [
    { thought: null, text: 'Hello there.', calls: [] },
    { thought: { text: 'Two cities.', signature: 'c2lnbmVk' }, text: null, calls: [call, call] },
  ];
  const found = turns.map((turn) => Buffer.from(framesText(converseTurns.frames(turn))));
  for (const { status, file, bytes } of loadCloudRecordings('bedrock/converse-stream')) {
    if (status !== 200 || !file.endsWith('.b64')) continue;
    const messages = Array.from(new EventStreamParser().push(bytes));
    const events = messages.map(({ headers, payload }) => ({
      event: headers.get(':event-type')!,
      data: payload.toString('utf8'),
    }));
    found.push(Buffer.from(framesText(events)));
  }
  return found.map((bytes) => ({ format: 'converse', bytes }) as const);
}

type Case = {
  readonly upstream: UpstreamFormatName;
  readonly client: ClientFormatName;
  readonly sources: readonly (readonly WireEvent[])[];
  readonly index: number;
};

function checkMalformedStream({ upstream, client, sources, index }: Case): 'success' | 'error' {
  const random = new Random(`${upstream} ${client} ${index}`);
  const bytes = makeMalformedStream(sources, random);
  const context = answerContext(
    client,
    random.chance(0.2) && client === 'responses' ? { reasoning: { effort: 'low' } } : {},
  );
  try {
    const played = playStream(openPipe(upstream, client, context), cutAtRandom(bytes, random));
    checkSizes(played, bytes);
    checkCounts(played);
    const ending = checkEnding(played, upstream, client);
    if (index % 20 === 0) checkUnsplit(played, bytes, () => openPipe(upstream, client, context));
    return ending;
  } catch (error) {
    const from = bytes.length > 20_000 ? `${bytes.length} bytes` : bytes.toString('utf8');
    throw new Error(`stream ${index} of ${upstream} to ${client}:\n${from}`, { cause: error });
  }
}

function checkEnding(
  { text, pipe, failure }: StreamResult,
  upstream: UpstreamFormatName,
  client: ClientFormatName,
): 'success' | 'error' {
  const { progress } = pipe;
  const ending = progress.status === 'finished' && failure === null ? 'success' : 'error';
  if (ending === 'success') assert.ok(progress.stop, 'a stream that succeeded says why it ended');
  if (upstream === client) checkRelayedEnd(text, client, ending);
  // Replacement characters from an upstream's broken bytes are not our fault.
  else
    assert.equal(
      checkStream(client, text.replaceAll('\ufffd', '?'), { usageAsked: client === 'chat' }).ending,
      ending,
    );
  return ending;
}

const lastTypes: Readonly<Record<ClientFormatName, Readonly<Record<'success' | 'error', RegExp>>>> =
  {
    responses: {
      success: /^event: response\.(completed|incomplete)\n/,
      error: /^event: response\.failed\n/,
    },
    chat: { success: /^data: \[DONE\]$/, error: /^data: \{"error":\{/ },
    messages: { success: /^event: message_stop\n/, error: /^event: error\n/ },
    gemini: { success: /"cost":0\.000001\}/, error: /^data: \{"error":\{/ },
  };

/**
 * On the straight path odd events pass unchanged; the gateway guarantees that the stream ends once
 * and correctly.
 */
function checkRelayedEnd(
  text: string,
  client: ClientFormatName,
  ending: 'success' | 'error',
): void {
  assert.ok(text.endsWith('\n\n'));
  const frames = text.slice(0, -2).split('\n\n');
  assert.match(frames.at(-1)!, lastTypes[client][ending]);
  const { success, error } = lastTypes[client];
  for (const frame of frames.slice(0, -1)) {
    assert.match(frame, /^(: [^\n]*|(event: [^\n]*\n)?data: [^\n]*)$/);
    assert.ok(!success.test(frame) && !error.test(frame), `an end before the end: ${frame}`);
  }
  if (client !== 'responses') return;
  const numbers = eventsOf(text).map((event) => event['sequence_number'] as number);
  assert.deepEqual(numbers, [...numbers.keys()], 'numbers have no gaps');
}

/** Untrusted counts never cause absurd charges. */
function checkCounts({ pipe: { progress } }: StreamResult): void {
  const { usage } = progress;
  const { tier: _tier, ...counts } = usage ?? {};
  for (const [name, count] of Object.entries(counts)) {
    assert.ok(Number.isInteger(count) && count >= 0 && count <= 100_000_000, `${name} is ${count}`);
  }
  assert.ok(
    !usage || usage.reasoningTokens <= usage.outputTokens,
    'reasoning is part of the output',
  );
}

/**
 * Output and counts are in proportion to the input. A control character is one byte in UTF-8 and
 * six in JSON, and a Responses stream sends each text up to five times; a broken byte becomes
 * three.
 */
function checkSizes({ text, pipe }: StreamResult, bytes: Uint8Array): void {
  const events = bytes.length / 10;
  assert.ok(
    text.length <= 30 * bytes.length + 1_000 * Math.min(events, 100) + 20_000,
    `${bytes.length} became ${text.length}`,
  );
  // An image counts alike, however small it is.
  const images = Buffer.from(bytes)
    .toString('latin1')
    .split(/"image_generation_call"|inline_?data/i);
  assert.ok(
    pipe.progress.output.bytes <= 3 * bytes.length + (images.length - 1) * 5_160,
    `${bytes.length} bytes were counted as ${pipe.progress.output.bytes}`,
  );
}

/**
 * The result does not depend on how the bytes are cut, except for ids that the host left out, which
 * are generated each time.
 */
function checkUnsplit(
  played: StreamResult,
  bytes: Uint8Array,
  open: () => ReturnType<typeof openPipe>,
): void {
  const withoutIds = (text: string) => text.replaceAll(/call_[0-9a-z]{26}/g, 'call_new');
  assert.equal(withoutIds(playStream(open(), [bytes]).text), withoutIds(played.text));
}
