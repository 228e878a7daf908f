import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { noUsage } from '../../canonical/usage.ts';
import type { Extend, Outcome } from '../../domain/ledger/commands.ts';
import { micros } from '../../lib/money.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { HoldGrowth } from './hold-growth.ts';
import { OpenHold, type Books, type Payer } from './open-hold.ts';
import type { Granted } from './worst-case.ts';
import { RequestRecord } from '../request-record.ts';
import { UnseenOutput, type Unseen } from './unseen-output.ts';

const picosPerToken = 1_000_000;
const slice = micros(1_000);

/**
 * A stream of a model at one microdollar a token. Its ledger grants `givesMicros` and no more, each
 * part once. `repliesLost`: so many of its first grants are booked, and seem to fail.
 */
function openStream({
  thinking = false,
  givesMicros = 1_000_000,
  maxOutputTokens = 20_000,
  repliesLost = 0,
} = {}) {
  const extensions: Extend[] = [];
  const clock = new TestClock();
  const call = (unseen: Unseen) => {
    const output = new UnseenOutput(clock, { choices: 1, unseen, tokensPerSecond: 100 });
    output.begin();
    return output;
  };
  let left = givesMicros;
  const prices = { input: 0, output: picosPerToken, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
  const version = {
    version: '0',
    effectiveFromMs: 0,
    isListPrice: true,
    base: prices,
    tiers: [],
    variants: [],
  };
  const model = { contextTokens: 100_000, supports: { thinking } };
  const request = { choices: 1, stream: true };
  const asked = {
    gateway: { config: { limits: { hold_slice_tokens: slice } } },
    model,
    request,
    price: { list: version, upstream: version },
    search: null,
    inputTokensUpper: 0,
    estimate: { audio: { upper: 0 } },
  };
  const books = {
    log: { error: () => {} },
    ledger: {
      submit: async (command: Extend): Promise<Outcome> => {
        if (extensions.some(({ part }) => part === command.part))
          return { type: 'held', availableMicros: micros(left) };
        if (command.amountMicros > left) {
          const nothing = { heldMicros: micros(0), cap: null, resetsAtMs: null };
          return {
            type: 'insufficient-balance',
            leftMicros: micros(left),
            affordableMicros: micros(left),
            ...nothing,
          };
        }
        left -= command.amountMicros;
        extensions.push(command);
        if (extensions.length <= repliesLost) throw new Error('the database does not answer');
        return { type: 'held', availableMicros: micros(left) };
      },
    },
  } as unknown as Books;
  const key = { id: 'k', accountId: 'a', mode: 'live' };
  const caller = { requestId: 'h', key, record: new RequestRecord('h') };
  const payer = { caller, tags: undefined } as unknown as Payer;
  const hold = new OpenHold(books, payer, { amountMicros: slice, endRisk: () => {} });
  const granted = { coveredTokens: slice, maxOutputTokens, wanted: asked } as unknown as Granted;
  const growth = new HoldGrowth(hold, granted);
  return {
    growth,
    call,
    unseen: call(thinking ? 'parts' : 'nothing'),
    extensions,
    clock,
    held: () => slice + givesMicros - left,
  };
}

const bytesOf = (tokens: number) => tokens * 2;
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a hold grows slice by slice ahead of its answer, which does not wait while it is covered', async () => {
  const { growth, unseen, extensions } = openStream();
  for (let tokens = 0; tokens <= 5_000; tokens += 100) {
    assert.equal(growth.cover(bytesOf(tokens), unseen), undefined, `at ${tokens} tokens`);
    await settled();
  }
  assert.deepEqual(
    extensions.map(({ part, amountMicros }) => [part, amountMicros]),
    [1, 2, 3, 4, 5].map((part) => [part, slice]),
  );
});

test('an answer that jumps past its hold waits for one extension that covers all of it', async () => {
  const { growth, unseen, held } = openStream();
  assert.equal(await growth.cover(bytesOf(7_500), unseen), true);
  assert.equal(held(), 7_500 + slice);
  assert.equal(growth.cover(bytesOf(7_600), unseen), undefined);
});

test('nothing is held beyond the output limit', async () => {
  const { growth, unseen, held } = openStream({ maxOutputTokens: 1_500 });
  assert.equal(await growth.cover(bytesOf(1_200), unseen), true);
  assert.equal(held(), 1_500);
  assert.equal(growth.cover(bytesOf(90_000), unseen), undefined);
});

test('a slice that was refused ahead of need is asked for once more before the answer ends', async () => {
  const { growth, unseen } = openStream({ givesMicros: 0 });
  assert.equal(growth.cover(bytesOf(900), unseen), undefined);
  await settled();
  assert.equal(growth.isRefused, false);
  assert.equal(growth.cover(bytesOf(950), unseen), undefined);
  assert.equal(await growth.cover(bytesOf(1_000), unseen), false);
  assert.equal(growth.isRefused, true);
});

test('a slice whose grant was booked unseen does not stand for a later, larger one', async () => {
  const { growth, unseen, held } = openStream({ repliesLost: 1 });
  assert.equal(growth.cover(bytesOf(600), unseen), undefined);
  await settled();
  assert.equal(await growth.cover(bytesOf(7_500), unseen), true);
  assert.ok(held() >= 7_500 + slice, `${held()} held`);
});

test('silence of a thinking model is held for as reasoning; slow output is not', async () => {
  const silent = openStream({ thinking: true });
  await silent.clock.advance(30_000);
  assert.equal(await silent.growth.cover(0, silent.unseen), true);
  assert.equal(silent.held(), 3_000 + slice);

  const slow = openStream({ thinking: true });
  for (let tokens = 1; tokens <= 300; tokens++) {
    await slow.clock.advance(500);
    const output = new OutputMeter();
    output.addText('x'.repeat(bytesOf(tokens)));
    slow.unseen.note({ output, usage: null });
    assert.equal(slow.growth.cover(bytesOf(tokens), slow.unseen), undefined);
  }
  assert.deepEqual(slow.extensions, []);

  const plain = openStream();
  await plain.clock.advance(600_000);
  assert.equal(plain.growth.cover(0, plain.unseen), undefined);
  await settled();
  assert.deepEqual(plain.extensions, []);
});

test('thoughts that the provider has counted are held for beside the text that follows', async () => {
  const { growth, unseen, held } = openStream({ thinking: true });
  const output = new OutputMeter();
  const usage = { ...noUsage, outputTokens: 4_000, reasoningTokens: 4_000 };
  unseen.note({ output, usage });
  assert.equal(await growth.cover(0, unseen), true);
  assert.ok(held() >= 4_000, `${held()} held`);
  output.addText('x'.repeat(bytesOf(3_000)));
  unseen.note({ output, usage });
  assert.equal(await growth.cover(output.bytes, unseen), true);
  assert.ok(held() >= 7_000, `${held()} held`);
});

test('a call that replaces a failed one counts from zero under the same hold', async () => {
  const { growth, call, unseen: failed, extensions, clock } = openStream({ thinking: true });
  assert.equal(await growth.cover(bytesOf(4_000), failed), true);
  await clock.advance(60_000);
  const unseen = call('parts');
  assert.equal(growth.cover(bytesOf(3_000), unseen), undefined);
  await settled();
  assert.equal(extensions.length, 1, 'neither the failed call’s output nor its silence counts');
  assert.equal(growth.cover(bytesOf(4_600), unseen), undefined);
  await settled();
  assert.deepEqual(
    extensions.map(({ part }) => part),
    [1, 2],
  );
});
