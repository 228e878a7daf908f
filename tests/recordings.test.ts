// Runs every upstream answer, our own and the recorded ones, through the formats: however the bytes
// are split, each client reads the provider's content. integration/recordings.test.ts does the same
// through the started program.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerEvents } from './support/canonical/answers.ts';
import { AnswerCollector } from '../src/canonical/answer.ts';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { clientFormats, upstreamFormats } from '../src/formats/registry.ts';
import { SseParser } from '../src/lib/sse.ts';
import { answerContext, clientNames, openPipe, playStream, writeWhole } from './support/pipes.ts';
import { assertAgrees, readPlainly } from './support/plain/read-plainly.ts';
import { cutAtRandom, Random } from './support/random.ts';
import { isAsked, loadRecordings, type Recording } from './support/recordings.ts';
import { checkStream } from './support/stream-rules.ts';

const splitsPerStream = 6;

const answers = loadRecordings().filter(({ status }) => status === 200);

for (const recording of answers) {
  for (const client of clientNames) {
    test(`${recording.file} reaches a ${client} client complete`, () => {
      if (recording.stream) checkSplits(recording, client);
      else checkWhole(recording, client);
    });
  }
}

function checkSplits({ file, format, bytes }: Recording, client: ClientFormatName): void {
  const recorded = readPlainly(format, true, bytes.toString('utf8'));
  const random = new Random(file + client);
  for (let split = 0; split < splitsPerStream; split++) {
    const pieces = split === 0 ? [bytes] : cutAtRandom(bytes, random);
    const { text } = playStream(openPipe(format, client, answerContext(client)), pieces);
    const straight = format === client;
    if (isAsked(file, 'rules') || !straight) {
      const { ending } = checkStream(client, text, { usageAsked: client === 'chat', straight });
      assert.equal(ending, recorded.stop === 'failed' ? 'error' : 'success');
    }
    if (recorded.stop !== 'failed')
      assertAgrees(readPlainly(client, true, text), recorded, client, {
        stop: isAsked(file, 'stop'),
      });
  }
}

function checkWhole({ file, format, bytes }: Recording, client: ClientFormatName): void {
  const body = JSON.parse(bytes.toString('utf8')) as unknown;
  const recorded = readPlainly(format, false, bytes.toString('utf8'));
  const written = writeWhole(format, client, body, answerContext(client));
  if (recorded.stop === 'failed') assert.equal(written, null);
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
        [...answerEvents(answer)].map(writer.push).join('') + writer.end() + writer.close(0.5);
      if (isAsked(file, 'stop')) checkStream(client, streamed, { usageAsked: client === 'chat' });
      assertAgrees(readPlainly(client, true, streamed), recorded, client, {
        stop: isAsked(file, 'stop'),
      });
    }
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
