import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import type { CallEnding } from '../../events/request-events.ts';
import { RouteHealth, type RouteState } from './health.ts';
import { type RouteName } from './shared-health.ts';

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((provider) => ({ provider, upstreamModel: 'm' })) as [
  RouteName,
  RouteName,
  RouteName,
  RouteName,
];

/** Three failures eject, for a second at first and for ten at most. */
function start() {
  const clock = { ms: 1_000_000 };
  const changes: string[] = [];
  const onChange = ({ provider, state, reason }: RouteState) =>
    void changes.push(`${provider} ${state} ${reason}`);
  const health = new RouteHealth({
    failuresMax: 3,
    ejectionMs: 1_000,
    ejectionCapMs: 10_000,
    nowMs: () => clock.ms,
    onChange,
  });
  const call = (route: RouteName, ...endings: CallEnding[]) => {
    for (const ending of endings) {
      health.begin(route);
      health.end(route, ending);
    }
  };
  return { clock, changes, health, call };
}

test('failures in a row put a route out of use; a success in between resets the count', () => {
  const { health, call, changes } = start();
  call(a, 'bad', 'bad', 'good', 'bad', 'bad');
  assert.equal(health.isAvailable(a), true);
  assert.deepEqual([...health.avoided([a, b])], []);
  call(a, 'bad');
  assert.equal(health.isAvailable(a), false);
  assert.deepEqual([...health.avoided([a, b])], [a]);
  assert.deepEqual(changes, ['a ejected failures']);
});

test('at most half of a model’s routes are avoided: those that return first stay in use', () => {
  const { health, call, clock } = start();
  call(a, 'bad', 'bad', 'bad');
  assert.deepEqual([...health.avoided([a])], []);
  clock.ms += 10;
  call(b, 'bad', 'bad', 'bad');
  assert.deepEqual([...health.avoided([a, b])], [b]);
  clock.ms += 10;
  call(c, 'bad', 'bad', 'bad');
  assert.deepEqual(new Set(health.avoided([a, b, c, d])), new Set([b, c]));
  assert.deepEqual([...health.avoided([a, b, c])], [c]);
});

test('a clock that is set back does not keep a route out of use', () => {
  const { health, call, clock } = start();
  call(a, 'bad', 'bad', 'bad');
  clock.ms -= 500_000;
  assert.equal(health.isAvailable(a), true);
  call(a, 'good');
  assert.deepEqual(health.states()[0]!.state, 'in-use');
});

test('after its ejection one request at a time probes a route, and a success reopens it', () => {
  const { health, call, clock, changes } = start();
  call(a, 'bad', 'bad', 'bad');
  clock.ms += 999;
  assert.equal(health.isAvailable(a), false);
  clock.ms += 1;
  assert.equal(health.isAvailable(a), true);
  health.begin(a);
  assert.equal(health.isAvailable(a), false, 'the probe is under way');
  assert.deepEqual([...health.avoided([a, b])], [a]);
  health.end(a, 'good');
  assert.equal(health.isAvailable(a), true);
  assert.deepEqual(changes, ['a ejected failures', 'a in-use failures']);
});

test('each failed probe doubles the ejection, up to the cap; a success resets it', () => {
  const { health, call, clock } = start();
  call(a, 'bad', 'bad', 'bad');
  const lengths: number[] = [];
  const untilMs = () => health.states()[0]!.ejectedUntilMs!;
  for (let probes = 0; probes < 6; probes++) {
    lengths.push(untilMs() - clock.ms);
    clock.ms = untilMs();
    call(a, 'bad');
  }
  assert.deepEqual(lengths, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  clock.ms = untilMs();
  call(a, 'good', 'bad', 'bad', 'bad');
  assert.equal(untilMs() - clock.ms, 1_000);
});

test('an answer that begins reopens the route, but one more failure ejects it for longer', () => {
  const { health, call, clock } = start();
  call(a, 'bad', 'bad', 'bad');
  clock.ms += 1_000;
  health.begin(a);
  health.noteAnswer(a);
  assert.equal(health.isAvailable(a), true, 'a long stream keeps nobody out');
  health.end(a, 'bad');
  assert.equal(health.isAvailable(a), false);
  assert.equal(health.states()[0]!.ejectedUntilMs! - clock.ms, 2_000);
});

test('a probe whose client leaves decides nothing: the next request probes again', () => {
  const { health, call, clock } = start();
  call(a, 'bad', 'bad', 'bad');
  clock.ms += 1_000;
  health.begin(a);
  health.end(a, 'unknown');
  assert.equal(health.isAvailable(a), true);
  assert.equal(health.states()[0]!.state, 'probing');
});

test('a refused credential ejects a route at once, for the longest time, and is reported once', () => {
  const { health, call, clock, changes } = start();
  call(a, 'refused', 'refused');
  assert.deepEqual([...health.avoided([a, b])], [a]);
  assert.equal(health.states()[0]!.ejectedUntilMs! - clock.ms, 10_000);
  assert.deepEqual(changes, ['a ejected refused']);
  assert.equal(health.states()[0]!.refusals, 2);
});

test('property: at most half the routes are avoided, and all return when nothing fails', () => {
  const routes = [a, b, c, d];
  const step = fc.record({
    route: fc.constantFrom(...routes),
    ending: fc.constantFrom<CallEnding>('good', 'bad', 'bad', 'bad', 'refused', 'unknown'),
    waitMs: fc.integer({ min: 0, max: 3_000 }),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      (steps, count) => {
        const { health, call, clock } = start();
        for (const { route, ending, waitMs } of steps) {
          clock.ms += waitMs;
          call(route, ending);
          assert.ok(health.avoided(routes.slice(0, count)).size <= Math.floor(count / 2));
        }
        clock.ms += 10_000;
        assert.ok(routes.every((route) => health.isAvailable(route)));
        for (const route of routes) call(route, 'good');
        assert.deepEqual(new Set(health.states().map(({ state }) => state)), new Set(['in-use']));
        assert.equal(health.avoided(routes).size, 0);
      },
    ),
  );
});

test('a route’s speed is that of about its last minute of writing, for streams and whole answers each', () => {
  const { health } = start();
  assert.equal(health.tokensPerSecond(a, 'stream'), 100, 'not measured yet');
  health.noteWriting(a, 'stream', { tokens: 10, ms: 900 });
  assert.equal(health.tokensPerSecond(a, 'stream'), 100, 'too short to tell');
  health.noteWriting(a, 'stream', { tokens: 9_990, ms: 19_100 });
  assert.ok(Math.abs(health.tokensPerSecond(a, 'stream') - 500) < 10);
  assert.equal(health.tokensPerSecond(a, 'whole'), 100);
  assert.equal(health.tokensPerSecond(b, 'stream'), 100);
  for (let minute = 0; minute < 10; minute++)
    health.noteWriting(a, 'stream', { tokens: 600, ms: 60_000 });
  assert.ok(health.tokensPerSecond(a, 'stream') < 11, 'it has become slow');
});

test('pieces that were held back and came at once measure no speed', () => {
  const { health } = start();
  health.noteWriting(a, 'stream', { tokens: 1_000, ms: 10_000 });
  for (let call = 0; call < 1_000; call++) health.noteWriting(a, 'stream', { tokens: 500, ms: 1 });
  assert.equal(health.tokensPerSecond(a, 'stream'), 100);
});

test('short whole answers measure no speed, because most of their time is spent before they begin', () => {
  const { health } = start();
  for (let call = 0; call < 1_000; call++) health.noteWriting(a, 'whole', { tokens: 1, ms: 500 });
  assert.equal(health.tokensPerSecond(a, 'whole'), 100);
});
