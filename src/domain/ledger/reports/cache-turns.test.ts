import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../../tests/support/property.ts';
import { columnOf } from '../../../../tests/support/column-of.ts';
import { noUsage, totalInputTokens, type Usage } from '../../../canonical/usage.ts';
import type { PicosPerToken } from '../../../lib/money.ts';
import { costOf, noPrices } from '../../../terms/price-terms.ts';
import type { Charge } from '../book.ts';
import type { MissReason } from '../../../terms/prompt-cache.ts';
import { explainTurns, type CacheTurn } from './cache-turns.ts';

const picos = (usd: number) => (usd * 1_000_000) as PicosPerToken;
/** USD per million tokens, as Sonnet's. */
const prices = {
  ...noPrices,
  input: picos(3),
  output: picos(15),
  cacheRead: picos(0.3),
  cacheWrite: picos(3.75),
  cacheWrite1h: picos(6),
};
const minuteMs = 60_000;

type Given = Partial<Charge> & { readonly model?: string };

/** `[input, read, written]` in tokens, and the minute of the turn. */
function turnOf(
  minute: number,
  [inputTokens, cacheReadTokens, cacheWriteTokens]: readonly [number, number, number],
  { model = 'claude-sonnet-5', usage, ...given }: Given = {},
): CacheTurn {
  const counted = { ...noUsage, inputTokens, cacheReadTokens, cacheWriteTokens, ...usage };
  const charge = {
    conversation: 'one',
    provider: 'a',
    cacheMarks: 'client',
    rankRoutes: null,
    webSearches: 0,
    durationMs: 0,
    createdAtMs: minute * minuteMs,
    usage: counted,
    ...given,
  } as Charge;
  return { charge, prices, upstreamModel: model };
}

const [haiku, gpt] = [{ model: 'claude-haiku-4-5' }, { model: 'gpt-5.6', cacheMarks: null }];
const hour = (tokens: number) => ({ usage: { ...noUsage, cacheWrite1hTokens: tokens } });
const written = turnOf(0, [0, 0, 5_000]);
const long = turnOf(0, [0, 0, 50_000]);
const minutes = (durationMinutes: number) => ({ durationMs: durationMinutes * minuteMs });

type Turns = readonly CacheTurn[];
/** In a row: the turns, and of the last one the reason, the tokens missed, and their microdollars. */
const cases: Readonly<Record<string, readonly [Turns, (MissReason | null)?, number?, number?]>> = {
  'a first turn costs what it must': [[written], 'first-turn', 5_000],
  'a first turn may read what other conversations wrote': [
    [turnOf(0, [0, 4_000, 1_000])],
    'first-turn',
    1_000,
  ],
  'all of the turn before was read': [[written, turnOf(1, [0, 5_000, 500])]],
  'a step of tokens is no miss': [[turnOf(0, [100, 0, 5_000]), turnOf(1, [0, 5_000, 600])]],
  'the prompt before was below the minimum': [
    [turnOf(0, [600, 0, 0]), turnOf(1, [0, 0, 1_100])],
    'below-minimum',
    600,
    2_070,
  ],
  'another model has another minimum': [
    [turnOf(0, [3_000, 0, 0], haiku), turnOf(1, [0, 0, 5_000], haiku)],
    'below-minimum',
    3_000,
    10_350,
  ],
  'nobody marked the prompt': [
    [0, 1].map((minute) => turnOf(minute, [5_000 + 1_000 * minute, 0, 0], { cacheMarks: 'none' })),
    'unmarked',
    5_000,
    13_500,
  ],
  'the marks end before the prompt does': [
    [turnOf(0, [4_000, 0, 2_000]), turnOf(1, [5_000, 2_000, 0])],
    'unmarked',
    4_000,
    10_800,
  ],
  'another provider had it': [
    [written, turnOf(1, [0, 0, 5_500], { provider: 'b' })],
    'other-route',
    5_000,
    17_250,
  ],
  'it was kept for five minutes': [[written, turnOf(5.1, [0, 0, 5_500])], 'expired', 5_000, 17_250],
  'a long answer counts from its beginning': [
    [turnOf(4, [0, 0, 5_000], minutes(4)), turnOf(5.1, [0, 0, 5_500], minutes(0))],
    'expired',
    5_000,
    17_250,
  ],
  'an hour was bought': [
    [turnOf(0, [0, 0, 0], hour(5_000)), turnOf(50, [0, 0, 0], hour(5_500))],
    'changed',
    5_000,
    28_500,
  ],
  'OpenAI keeps prompts for half an hour without marks': [
    [turnOf(0, [5_000, 0, 0], gpt), turnOf(20, [5_500, 0, 0], gpt)],
    'changed',
    5_000,
    13_500,
  ],
  'the beginning changed': [[written, turnOf(1, [0, 1_000, 4_500])], 'changed', 4_000, 13_800],
  'a helper of the agent is a thread of its own': [
    [long, turnOf(1, [0, 0, 5_000])],
    'first-turn',
    5_000,
  ],
  'and does not come between two turns': [
    [long, turnOf(1, [0, 0, 5_000]), turnOf(2, [0, 50_000, 500])],
  ],
  'a conversation is not mixed with another': [
    [written, turnOf(1, [0, 0, 5_500], { conversation: 'two' })],
    'first-turn',
    5_500,
  ],
};

for (const [name, [turns, reason = null, tokens = 0, micros = 0]] of Object.entries(cases))
  test(name, () => {
    const last = [...explainTurns(turns)].at(-1)!;
    const { missed } = last;
    assert.deepEqual(missed?.reason ?? null, reason);
    assert.deepEqual(missed?.tokens ?? 0, tokens);
    assert.deepEqual(missed?.cost_micros ?? 0, micros);
  });

test('a charge without a conversation is left out', () => {
  assert.deepEqual([...explainTurns([turnOf(0, [5, 0, 0], { conversation: null })])], []);
});

test('marks save what was read, less what their writes cost', () => {
  const marked = { cacheMarks: 'gateway' } as const;
  const pair = [turnOf(0, [0, 0, 5_000], marked), turnOf(1, [0, 5_000, 500], marked)];
  const [first, second] = explainTurns(pair);
  assert.equal(first!.saved_by_marks_micros, -3_750);
  assert.deepEqual(second!.saved_by_marks_micros, 13_500 - 375);
  const [, unmarked] = explainTurns([turnOf(0, [0, 0, 5_000]), turnOf(1, [0, 5_000, 500])]);
  assert.deepEqual([unmarked!.saved_micros, unmarked!.saved_by_marks_micros], [13_125, 0]);
});

test('affinity saves what routes chosen by chance would have written again', () => {
  const two = { rankRoutes: 2 };
  const turns = [
    [0, 0, 4_000],
    [0, 4_000, 400],
    [0, 4_400, 400],
  ] as const;
  const saved = (given: Given) => {
    const played = turns.map((tokens, minute) => turnOf(minute, tokens, given));
    return columnOf([...explainTurns(played)], 'saved_by_affinity_micros');
  };
  // Of two routes, one has the whole prompt, the other what it had before: 0, then 2,000 on average.
  assert.deepEqual(saved(two), [0, 2_000 * 3.45, 1_200 * 3.45]);
  assert.deepEqual(saved({}), [0, 0, 0]);
});

const tokens = fc.integer({ min: 0, max: 300_000 });
const anyUsage = fc
  .record({
    inputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
    cacheWrite1hTokens: tokens,
    outputTokens: tokens,
  })
  .map((counted) => ({ ...noUsage, ...counted }));
const anyTurn = fc.record({
  usage: anyUsage,
  conversation: fc.constantFrom('one', 'two'),
  provider: fc.constantFrom('a', 'b'),
  cacheMarks: fc.constantFrom('client', 'gateway', 'none', null),
  rankRoutes: fc.constantFrom(null, 2, 7),
  durationMs: fc.constantFrom(null, 1_000),
});
const anyPrices = fc
  .tuple(...Array.from({ length: 5 }, () => fc.integer({ min: 0, max: 90_000_000 })))
  .map((all) => {
    const names = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'];
    const chosen = Object.fromEntries(names.map((name, index) => [name, all[index]!]));
    return { ...noPrices, ...(chosen as Record<string, PicosPerToken>) };
  });

test('read, missed and new tokens are the input, and no cost is negative', () => {
  fc.assert(
    fc.property(fc.array(anyTurn, { maxLength: 30 }), anyPrices, (given, terms) => {
      const turns = given.map((one, minute) => ({
        ...turnOf(minute, [0, 0, 0], one as Given),
        prices: terms,
      }));
      const explained = [...explainTurns(turns)];
      assert.equal(explained.length, turns.length);
      for (const turn of explained) {
        const { usage } = turn.charge;
        const { tokens: missed = 0, cost_micros: missedMicros = 0 } = turn.missed ?? {};
        assert.equal(turn.input_tokens, totalInputTokens(usage));
        assert.equal(turn.read_tokens + missed + turn.new_tokens, turn.input_tokens);
        assert.ok(missed >= 0 && turn.new_tokens >= 0 && missedMicros >= 0);
        assert.ok(turn.saved_by_affinity_micros >= 0);
        // Nothing costs more than the whole request, and without a cache it costs what is left.
        const cost = (of: Usage) => costOf(terms, { usage: of, searches: 0, images: 0 });
        assert.ok(missedMicros <= cost(usage));
        const { outputTokens } = usage;
        const plain = { ...noUsage, inputTokens: totalInputTokens(usage), outputTokens };
        assert.equal(cost(plain) - cost(usage), turn.saved_micros);
      }
    }),
  );
});
