// Every client answer, from the sandbox and from the recordings, matches the official SDKs' types.
// On the straight path an upstream's answer may be older or odder than the types; the gateway must
// not add a breach.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { findBreaches, findEventBreaches } from './support/official-types.ts';
import { answerContext, clientNames, openPipe, playStream, writeWhole } from './support/pipes.ts';
import { eventsOf } from './support/plain/reading.ts';
import { loadRecordings, type Recording } from './support/recordings.ts';

for (const recording of loadRecordings().filter(({ status }) => status === 200)) {
  for (const client of clientNames) {
    test(`${recording.file} matches the official types for a ${client} client`, () => {
      const breaches = new Set(breachesOf(recording, client));
      if (recording.format === client)
        for (const breach of ownBreaches(recording, client)) breaches.delete(breach);
      assert.deepEqual([...breaches], []);
    });
  }
}

function breachesOf(
  { format, stream, bytes }: Recording,
  client: ClientFormatName,
): readonly string[] {
  const context = answerContext(client);
  if (stream)
    return findEventBreaches(
      client,
      eventsOf(playStream(openPipe(format, client, context), [bytes]).text),
    );
  const body = writeWhole(format, client, JSON.parse(bytes.toString('utf8')), context);
  return body ? findBreaches(client, body) : [];
}

function ownBreaches({ stream, bytes }: Recording, client: ClientFormatName): readonly string[] {
  const text = bytes.toString('utf8');
  return stream
    ? findEventBreaches(client, eventsOf(text))
    : findBreaches(client, JSON.parse(text));
}
