// Seals must keep their digests: these were made by earlier versions, some before tags were sealed.
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
};

test('a seal without tags has the digests that it always had', () => {
  const sums = { chargeDays: [day], lossDays: [{ ...loss, forgiven_micros: micros(0) }] };
  assert.equal(
    digestSums({ ...sums, tagDays: null }),
    'eb251eac2d924aed768bbecea4b31e60dce4f20dce4a024a244a2570c52f4c68',
  );
  assert.equal(
    digestOfSeal({ ...seal, tags_digest: null }),
    '7fa77dade7c86d96c3d6ccfbe40565780c95c28a60a5f5ea61400e19912af6fd',
  );
  for (const tagDays of [[], [tagDay]])
    assert.notEqual(digestSums({ ...sums, tagDays }), digestSums({ ...sums, tagDays: null }));
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
