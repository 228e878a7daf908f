// Seals must keep their digests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { micros } from '../../../lib/money.ts';
import { DayDigests, digestSums } from './digests.ts';
import { digestOfSeal } from './seals.ts';

const day = {
  ledger_id: 'a0:live',
  day: '2026-11-21',
  key_id: 'k0',
  model_id: 'm',
  endpoint: 'chat',
  requests: 2,
  input_tokens: 3,
  cached_tokens: 1,
  output_tokens: 5,
  images: 0,
  cost_micros: micros(24),
  upstream_cost_micros: micros(20),
  loss_micros: micros(0),
} as const;
const loss = { ledger_id: 'a0:live', day: day.day, provoked_micros: micros(7) };
const tagDay = { ...day, tag: 'nightly' };

const seal = {
  day: day.day,
  until_ms: 1_795_305_600_000,
  after_seq: 4,
  last_seq: 9,
  ahead: '[]',
  entries: 9,
  charges: 2,
  entries_digest: 'e',
  charges_digest: 'c',
  sums_digest: 's',
  state_digest: 't',
  previous_digest: '',
  tags_digest: 'g',
};

test('a seal has the digests that it always had', () => {
  const lossDays = [{ ...loss, forgiven_micros: micros(0) }];
  assert.deepEqual(
    [digestSums({ chargeDays: [day], lossDays, tagDays: [tagDay] }), digestOfSeal(seal)],
    [
      'd4f74405e847bdf474b37f4dd4670334a1b322b98bf161027d75f19acecdf9d8',
      'b1d8e7c8eec36b64ab1f57e2f81a209bf3c7659fa823b3b08c2ee399acebd6b7',
    ],
  );
});

test('seals cover the columns of entries and charges that they always covered', () => {
  const digests = new DayDigests();
  assert.deepEqual(
    [digests.entries.end(), digests.charges.end()],
    [
      '61f477c8fb9ebaa10a5e00c727840f9060366aade198c516c1975afcc7f24b99',
      '1896cdc1792230df450242ce9f0f538e4b61d1cae7a9b895775380cb0e1b3aff',
    ],
  );
});
