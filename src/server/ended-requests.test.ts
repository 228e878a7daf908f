import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import type { Activity } from '../activity/activity.ts';
import type { Logger } from '../lib/log.ts';
import { TestClock } from '../../tests/support/test-clock.ts';
import { type EndedRequest, EndedRequests } from './ended-requests.ts';

/** Keeps the log lines and the counts that `EndedRequests` writes. */
function observe() {
  const lines: string[] = [];
  const counts: Record<string, number> = {};
  const add = (name: string, by: number) => (counts[name] = (counts[name] ?? 0) + by);
  const write = (level: string) => (fields: object | string) => void lines.push(`${level}${fields as string}`);
  const log: Logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const meter = {
    count: ({ status, trace }: { status: number; trace: { model?: string } }, count: number) =>
      void add(`metrics ${status} ${trace.model}`, count),
    time: (route: string | null, seconds: number) => void add(`seconds ${route} ${seconds}`, 1),
  };
  const noteRequest = ({ model }: { model?: string }, path: string, count = 1) => void add(`activity ${model} ${path}`, count);
  const clock = new TestClock();
  const activity = { noteRequest } as unknown as Activity;
  return { lines, counts, clock, ended: new EndedRequests({ log, meter, activity, clock }) };
}

const kinds = [{}, {}];
const requests = fc.record({
  kind: fc.constantFrom(undefined, 0, 1),
  status: fc.constantFrom(200, 500),
  tookMs: fc.nat({ max: 3 }),
});

test('many that are told of together are told of like each by itself', () => {
  fc.assert(
    fc.property(fc.array(requests, { maxLength: 40 }), (all) => {
      const [together, alone] = [observe(), observe()];
      for (const [index, { kind, status, tookMs }] of all.entries()) {
        const trace = { requestId: `req_${index}`, startedAtMs: 0, model: `model ${kind ?? index}` };
        const route = '/v1/messages';
        const one: EndedRequest = { traced: { trace, method: 'POST', route }, status, tookMs, isClientGone: index % 5 === 0 };
        alone.ended.note(one);
        alone.ended.tell();
        together.ended.note(kind === undefined ? one : { ...one, traced: { ...one.traced, kind: kinds[kind] } });
      }
      together.ended.tell();
      assert.deepEqual(together.lines, alone.lines);
      assert.deepEqual(together.counts, alone.counts);
    }),
  );
});

test('an ended request is logged and counted within 20 ms, without being asked', async () => {
  const { lines, ended, clock } = observe();
  const trace = { requestId: 'req_1', startedAtMs: 0 };
  ended.note({ traced: { trace, method: 'GET', route: null }, status: 200, tookMs: 1, isClientGone: false });
  await clock.advance(20);
  assert.match(lines[0]!, /"request_id":"req_1"/);
});
