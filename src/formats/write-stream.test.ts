// What the writers of all client formats have in common.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../tests/support/canonical/answers.ts';
import { callPart, textPart } from '../../tests/support/canonical/parts.ts';
import { answerContext, clientNames } from '../../tests/support/pipes.ts';
import { readPlainly } from '../../tests/support/plain/read-plainly.ts';
import { eventsOf, type Answer } from '../canonical/answer.ts';
import type { StreamEvent } from '../canonical/event.ts';
import { countUsage, noUsage, totalInputTokens } from '../canonical/usage.ts';
import { clientFormats } from './registry.ts';

const start: StreamEvent = { type: 'start', usage: null };

for (const client of clientNames) {
  const context = answerContext(client);
  const open = () => clientFormats[client].writeStream(context);
  const play = (answer: Answer, first = start) => {
    const pipe = open();
    const events = [first, ...[...eventsOf(answer)].slice(1)];
    return { pipe, frames: events.map(pipe.push).join('') };
  };

  test(`${client}: an upstream’s early count of the input is shown and charged`, () => {
    const early = { ...noUsage, inputTokens: 40, cacheReadTokens: 60 };
    const answer = answerOf([textPart('twelve bytes')], { usage: null });
    const { pipe, frames } = play(answer, { type: 'start', usage: early });
    const shown = readPlainly(client, true, frames + pipe.close(0)).usage!;
    const { usage, output } = pipe.progress;
    const charged = countUsage(usage, { estimatedInputTokens: 7, outputBytes: output.bytes });
    assert.deepEqual([shown.input, shown.output], [100, 3]);
    assert.deepEqual([totalInputTokens(charged), charged.outputTokens], [100, 3]);
  });

  test(`${client}: without the upstream’s usage the client sees our own count, and the gateway none`, () => {
    const answer = answerOf([textPart('Grüße'), callPart('a', 'f', '{"a":1}')], { usage: null });
    const { pipe, frames } = play(answer);
    assert.deepEqual([pipe.progress.usage, pipe.progress.output.bytes], [null, 14]);
    const whole = JSON.stringify(clientFormats[client].writeAnswer(answer, context));
    for (const { usage } of [
      readPlainly(client, true, frames + pipe.close(0)),
      readPlainly(client, false, whole),
    ])
      assert.deepEqual([usage?.input, usage?.output], [77, 4]);
  });

  test(`${client}: progress has the finish’s stop and usage, and the last frames wait for the charge`, () => {
    const usage = { ...noUsage, inputTokens: 5, outputTokens: 4 };
    const answer = answerOf([textPart('Hé'), callPart('call_1')], { usage });
    const { pipe, frames } = play(answer);
    const finished = { status: 'finished', usage, stop: answer.stop, failure: null } as const;
    assert.partialDeepStrictEqual(pipe.progress, finished);
    assert.equal(pipe.progress.output.bytes, 5);
    assert.equal(pipe.push({ type: 'text-start' }) + pipe.end(), '');
    const last = pipe.close(0.5);
    assert.match(last, /"cost":0\.5\}/);
    assert.equal(readPlainly(client, true, frames + last).stop, 'tools');
  });

  test(`${client}: an error event fails the stream with the upstream’s failure, and nothing follows`, () => {
    const pipe = open();
    const failure = { kind: 'status', status: 529, message: 'x', retryAfterSeconds: 3 } as const;
    pipe.push(start);
    assert.equal(pipe.push({ type: 'error', failure }), '');
    assert.deepEqual([pipe.progress.status, pipe.progress.failure], ['failed', failure]);
    assert.equal(pipe.push({ type: 'text-delta', text: 'late' }), '');
  });

  test(`${client}: events without a finish are a broken stream`, () => {
    const pipe = open();
    pipe.push(start);
    assert.equal(pipe.end(), '');
    assert.equal(pipe.progress.status, 'failed');
    assert.equal(pipe.progress.failure?.kind, 'broken-stream');
    assert.equal(pipe.push({ type: 'text-delta', text: 'late' }), '');
  });
}

test('a citation that comes before its words covers the block, as in a whole answer', () => {
  const citation = { type: 'url', url: 'https://a.example', title: 'A', citedText: null } as const;
  const part = { ...textPart('Grüße'), citations: [{ ...citation, span: null, reference: null }] };
  const answer = answerOf([textPart('So. '), part]);
  const events = [...eventsOf(answer)];
  const at = events.findIndex(({ type }) => type === 'citation');
  const [cited] = events.splice(at, 1);
  events.splice(events.findLastIndex(({ type }) => type === 'text-start') + 1, 0, cited!);
  for (const client of clientNames) {
    const context = answerContext(client);
    const pipe = clientFormats[client].writeStream(context);
    const streamed = events.map(pipe.push).join('') + pipe.close(0);
    const whole = JSON.stringify(clientFormats[client].writeAnswer(answer, context));
    const [place] = /"start_?[iI]ndex":\d+,"end_?[iI]ndex":\d+/.exec(whole) ?? [];
    assert.equal(place === undefined, client === 'messages');
    assert.ok(streamed.includes(place ?? 'https://a.example'), `${client}: ${place}`);
  }
});
