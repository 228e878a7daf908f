// The gateway ends a stream itself when its hold cannot grow. Wherever that happens, the client
// reads a valid stream that stopped at its length limit, with everything that came before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { SseParser, type SseEvent } from '../src/lib/sse.ts';
import { answerContext, clientNames, openPipe } from './support/pipes.ts';
import { readPlainly } from './support/plain/read-plainly.ts';
import { Random } from './support/random.ts';
import { isAsked, loadRecordings, type Recording } from './support/recordings.ts';
import { checkStream } from './support/stream-rules.ts';

const cutsPerStream = 12;

for (const recording of loadRecordings().filter(isWholeStream)) {
  for (const client of clientNames) {
    test(`${recording.file} to a ${client} client is ended properly by the gateway`, () => {
      const random = new Random(recording.file + client);
      for (let cut = 0; cut < cutsPerStream; cut++) endSomewhere(recording, client, random);
    });
  }
}

function isWholeStream({ format, stream, status, bytes }: Recording): boolean {
  return (
    stream && status === 200 && readPlainly(format, true, bytes.toString('utf8')).stop !== 'failed'
  );
}

function endSomewhere(
  { file, format, bytes }: Recording,
  client: ClientFormatName,
  random: Random,
): void {
  const parser = new SseParser();
  const events = [...parser.push(bytes), ...parser.end()];
  const pipe = openPipe(format, client, answerContext(client));
  let sent = '';
  const pushed = events.slice(0, 1 + random.below(events.length));
  for (const event of pushed) sent += pipe.push(event);
  // The gateway opens a stream with its first frame, and a finished stream needs no ending.
  if (sent === '' || pipe.progress.status !== 'running') return;
  const bytesBefore = pipe.progress.output.bytes;
  const ended = sent + pipe.limit() + pipe.close(0.000001);
  assert.equal(pipe.progress.status, 'finished');
  assert.ok(pipe.progress.output.bytes >= bytesBefore, 'nothing that came is forgotten');
  const straight = format === client;
  if (isAsked(file, 'rules') || !straight) {
    assert.equal(
      checkStream(client, ended, { usageAsked: client === 'chat', straight }).ending,
      'success',
    );
  }
  const reading = readPlainly(client, true, ended);
  // The straight path of Chat holds the host's finish back.
  const seen = client === 'chat' && straight ? textOf(pushed) : sent;
  if (!hadStopped(reading.stop, client, seen)) assert.equal(reading.stop, 'length');
}

function textOf(events: readonly SseEvent[]): string {
  return events.map(({ data }) => `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`).join('');
}

/** The upstream's own stop reason, if it had already come. */
function hadStopped(stop: string | null, client: ClientFormatName, sent: string): boolean {
  return (
    stop !== 'length' && client !== 'responses' && readPlainly(client, true, sent).stop === stop
  );
}
