// Events that are alike take shorter ways (formats/chat/similar-chunks.ts and
// formats/messages/stream-event.ts). White space after an event's JSON keeps it from them. So a
// stream whose events all end in other white space must give the same answer and the same counts.
//
//   TOLLGATE_TEST_SEED=123 SIMILAR_STREAMS=1000000 node --test tests/similar-streams.test.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import type { AnswerContext } from '../src/formats/format.ts';
import { formatSse } from '../src/lib/sse.ts';
import { makeMalformedStream, splitEvents, type WireEvent } from './support/malformed-streams.ts';
import { answerContext, clientNames, openPipe, playStream } from './support/pipes.ts';
import { Random } from './support/random.ts';
import { loadRecordings } from './support/recordings.ts';
import { makeSimilarStream } from './support/similar-streams.ts';
import { scaled } from './support/volume.ts';

const streams = Number(process.env.SIMILAR_STREAMS ?? scaled(3_000, 15_000));
const answers = loadRecordings().filter(({ status, stream }) => stream && status === 200);
const eventsMax = 20;

for (const upstream of ['chat', 'messages'] as const)
  for (const client of clientNames)
    test(`similar ${upstream} events give a ${client} client what each of them gives alone`, (t) => {
      const sources = answers
        .filter(({ format }) => format === upstream)
        .map(({ bytes }) => splitEvents(bytes.toString('utf8')));
      const count = Math.ceil(streams / 6);
      let finished = 0;
      for (let index = 0; index < count; index++) {
        const random = new Random(`similar ${upstream} ${client} ${index}`);
        const context = contextOf(client, random);
        const made = makeStream(sources, random);
        const events = upstream === 'chat' ? made : withoutRepeated(made);
        const isLimited = random.chance(0.2);
        const play = (sent: readonly WireEvent[]) =>
          playEvents({ upstream, client, context, isLimited }, sent);
        const played = play(events);
        assert.deepEqual(
          played,
          play(events.map(endInSpace)),
          `stream ${index}:\n${events.map(({ data }) => data).join('\n')}`,
        );
        if (played.status === 'finished') finished++;
      }
      t.diagnostic(`${count} streams, ${finished} finished`);
      assert.ok(finished > count / 20 && finished < count, 'streams end well and with an error');
    });

for (const upstream of ['chat', 'messages'] as const)
  test(`a client's answer keeps the text of ${upstream} events in memory, not the events`, () => {
    const pipe = openPipe(upstream, 'responses', answerContext('responses'));
    const data = longEvents[upstream];
    const before = liveHeapBytes();
    for (let index = 0; index < 5_000; index++) {
      // As a parser does, cuts each event out of what arrived.
      const arrived = Buffer.from(`data: ${data}\n\n`).toString();
      pipe.push({ event: '', data: arrived.slice(6, -2) });
    }
    assert.ok(liveHeapBytes() - before < 4 * 1024 * 1024, 'the events are 18 MB');
    pipe.end();
  });

const longEvents = {
  chat: JSON.stringify({
    id: 'x'.repeat(3_500),
    choices: [{ index: 0, delta: { content: 'a few words of text' } }],
  }),
  messages: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a few words of text"}${' '.repeat(3_500)}}`,
};

function liveHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

/**
 * A part that starts twice in a row, byte for byte, fails a stream of Messages. The test changes only the
 * space at an event's end. An event without data is ignored, so it does not stand between two others.
 */
function withoutRepeated(events: readonly WireEvent[]): WireEvent[] {
  return events
    .filter(({ data }) => data !== '')
    .filter(({ data }, at, all) => data.trimEnd() !== all[at - 1]?.data.trimEnd());
}

function makeStream(sources: readonly (readonly WireEvent[])[], random: Random): WireEvent[] {
  if (random.chance(0.1)) return splitEvents(makeMalformedStream(sources, random).toString('utf8'));
  const source = random.pick(sources);
  const start = random.below(Math.max(1, source.length - eventsMax));
  return makeSimilarStream(
    [...source.slice(0, 2), ...source.slice(start, start + eventsMax), ...source.slice(-3)],
    random,
  );
}

/** Chat clients with and without usage, for one choice or two, and with a tool whose name is changed. */
function contextOf(client: ClientFormatName, random: Random): AnswerContext {
  if (client !== 'chat') return answerContext(client);
  return answerContext(client, {
    ...(random.chance(0.5) && { stream_options: { include_usage: false } }),
    ...(random.chance(0.3) && { tools: [longTool] }),
    ...(random.chance(0.3) && { n: 2 }),
  });
}

const longTool = { type: 'function', function: { name: 'n'.repeat(70), parameters: {} } };

function endInSpace({ event, data }: WireEvent, index: number): WireEvent {
  return { event, data: data.startsWith('{') ? data + ' '.repeat(index + 1) : data };
}

type Pair = {
  readonly upstream: 'chat' | 'messages';
  readonly client: ClientFormatName;
  readonly context: AnswerContext;
  /** Nothing more can be held at its end. */
  readonly isLimited: boolean;
};

/** Returns what the client gets, what its charge is made from, and the progress after each event. */
function playEvents({ upstream, client, context, isLimited }: Pair, events: readonly WireEvent[]) {
  const bytes = Buffer.from(events.map(({ event, data }) => formatSse(event, data)).join(''));
  const whole = openPipe(upstream, client, context);
  const { progress } = whole;
  const steps: unknown[] = [];
  const { text, failure } = playStream(
    {
      push(event) {
        const frames = whole.push(event);
        const { status, isOpening, isComplete, output, usage } = progress;
        steps.push([status, isOpening, isComplete, output.bytes, usage, frames === '']);
        return frames;
      },
      end: () => (isLimited ? whole.limit() : whole.end()),
      limit: () => whole.limit(),
      close: (costUsd) => whole.close(costUsd),
      fail: (error, asked) => whole.fail(error, asked),
      progress,
    },
    [bytes],
  );
  const { status, usage, stop, output, searches } = progress;
  return {
    steps,
    status,
    usage,
    stop,
    outputBytes: output.bytes,
    searches,
    failure: failure?.kind,
    // Messages passes events as they came, and messages of failures quote them. Ids of calls
    // without one are random.
    frames: text.replace(newCallId, 'call_new').split(/ *\n/),
  };
}

const newCallId = /call_[0-9a-hjkmnp-tv-z]{26}/g;
