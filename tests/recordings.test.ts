// Runs every upstream answer, our own and the recorded ones, through the formats: however the bytes
// are split, each client reads the provider's content. integration/recordings.test.ts does the same
// through the started program.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsOf, AnswerCollector } from '../src/canonical/answer.ts';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { readErrorMessage } from '../src/formats/error-message.ts';
import { UnreadableAnswer } from '../src/formats/format.ts';
import { clientFormats, upstreamFormats } from '../src/formats/registry.ts';
import { SseParser } from '../src/lib/sse.ts';
import { answerContext, clientNames, openPipe, playStream, writeWhole } from './support/pipes.ts';
import { assertAgrees, isFailure, readPlainly } from './support/plain/read-plainly.ts';
import { splitEvents } from './support/malformed-streams.ts';
import { cutAtRandom, Random } from './support/random.ts';
import { loadCloudAnswers } from './support/cloud-recordings.ts';
import { isAsked, loadRecordings, type Recording } from './support/recordings.ts';
import { checkStream } from './support/stream-rules.ts';

const splitsPerStream = 6;

const recordings = [...loadRecordings(), ...loadCloudAnswers()];
const answers = recordings.filter(({ status }) => status === 200);

for (const recording of answers) {
  for (const client of clientNames) {
    test(`${recording.file} reaches a ${client} client complete`, () => {
      if (recording.stream) checkSplits(recording, client);
      else checkWhole(recording, client);
    });
  }
}

function checkSplits(recording: Recording, client: ClientFormatName): void {
  const { file, format, bytes } = recording;
  const recorded = readPlainly(format, true, bytes.toString('utf8'));
  const play = (pieces: Iterable<Uint8Array>) =>
    playStream(openPipe(format, client, answerContext(client)), pieces).text;
  const text = play([bytes]);
  const straight = format === client;
  if (isAsked(file, 'rules') || !straight) {
    const { ending } = checkStream(client, text, { usageAsked: client === 'chat', straight });
    assert.equal(ending, isFailure(recorded, recording, client) ? 'error' : 'success');
  }
  if (!isFailure(recorded, recording, client))
    assertAgrees(readPlainly(client, true, text), recorded, client, {
      stop: isAsked(file, 'stop'),
    });
  const random = new Random(file + client);
  const pieces: Iterable<Uint8Array>[] =
    bytes.length < 20_000 ? [Array.from(bytes, (byte) => Buffer.of(byte))] : [];
  for (let split = 0; split < splitsPerStream; split++) pieces.push(cutAtRandom(bytes, random));
  for (const cut of pieces) assert.equal(withoutNewIds(play(cut)), withoutNewIds(text));
}

/** A call without an id gets a new one in each reading. */
function withoutNewIds(text: string): string {
  return text.replaceAll(/call_[0-9a-z]{26}/g, 'call_new');
}

function checkWhole(recording: Recording, client: ClientFormatName): void {
  const { file, format, bytes } = recording;
  const body = JSON.parse(bytes.toString('utf8')) as unknown;
  const recorded = readPlainly(format, false, bytes.toString('utf8'));
  const written = writeWhole(format, client, body, answerContext(client));
  if (isFailure(recorded, recording, client)) assert.equal(written, null);
  else
    assertAgrees(readPlainly(client, false, JSON.stringify(written)), recorded, client, {
      stop: isAsked(file, 'stop'),
    });
}

for (const { file, format, stream, bytes } of answers) {
  test(`${file}: whole and streamed, each client reads the same`, () => {
    const text = bytes.toString('utf8');
    const recorded = readPlainly(format, stream, text);
    if (recorded.stop === 'failed') return;
    const answer = stream
      ? collect(format, bytes)
      : upstreamFormats[format].readAnswer(JSON.parse(text));
    for (const client of clientNames) {
      const context = answerContext(client);
      const whole = JSON.stringify(clientFormats[client].writeAnswer(answer, context));
      assertAgrees(readPlainly(client, false, whole), recorded, client, {
        stop: isAsked(file, 'stop'),
      });
      const writer = clientFormats[client].writeStream(context);
      const streamed =
        [...eventsOf(answer)].map(writer.push).join('') + writer.end() + writer.close(0.5);
      if (isAsked(file, 'stop')) checkStream(client, streamed, { usageAsked: client === 'chat' });
      assertAgrees(readPlainly(client, true, streamed), recorded, client, {
        stop: isAsked(file, 'stop'),
      });
    }
  });
}

const ends: Readonly<Record<Recording['format'], RegExp>> = {
  responses: /"type":\s*"(?:response\.(?:completed|incomplete|failed)|error)"/,
  chat: /^\[DONE\]$|"finish_reason":\s*"|"error":/,
  messages: /"type":\s*"(?:message_delta|error)"/,
  gemini: /"(?:finishReason|blockReason|error)":/,
};

for (const { file, format, bytes } of answers.filter(({ stream }) => stream)) {
  test(`${file}: without its end, the stream fails for every client`, () => {
    const events = splitEvents(bytes.toString('utf8'));
    const end = events.findIndex(({ data }) => ends[format].test(data));
    const text = events
      .slice(0, end)
      .map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`);
    for (const client of clientNames) {
      const pipe = openPipe(format, client, answerContext(client));
      assert.ok(playStream(pipe, [Buffer.from(text.join(''))]).failure, client);
    }
  });
}

for (const { file, format, stream, status, bytes } of recordings) {
  const text = bytes.toString('utf8');
  if (stream || (status === 200 && readPlainly(format, false, text).stop !== 'failed')) continue;
  test(`${file}: the failure has a message and is not read as an answer`, () => {
    const body = JSON.parse(text) as unknown;
    const message = readErrorMessage(body);
    if (status !== 200) assert.ok(message && text.includes(message), String(message));
    assert.throws(() => upstreamFormats[format].readAnswer(body), UnreadableAnswer);
  });
}

function collect(format: Recording['format'], bytes: Uint8Array) {
  const parser = new SseParser();
  const reader = upstreamFormats[format].readStream();
  const collector = new AnswerCollector();
  for (const event of [...parser.push(bytes), ...parser.end()])
    for (const read of reader.push(event)) collector.push(read);
  for (const read of reader.end()) collector.push(read);
  assert.ok(collector.answer, 'the stream finishes');
  return collector.answer;
}
