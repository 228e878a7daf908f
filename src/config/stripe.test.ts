import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf, loadYaml } from '../../tests/support/config-file.ts';

const secrets = 'secret_key: sk_live_000111222333, webhook_secret: whsec_444555666';

test('without its two secrets Stripe is not configured', () => {
  const { stripe, billing } = loadYaml('service: {}');
  assert.equal(stripe, null);
  assert.equal(billing.contact, null);
});

test('amounts have defaults, choices are sorted without duplicates, and the address is Stripe’s', () => {
  const { stripe, warnings } = loadYaml(
    `stripe: { ${secrets}, top_up_usd: { choices: [50, 20, 50] } }`,
  );
  assert.deepEqual(stripe, {
    secret_key: 'sk_live_000111222333',
    webhook_secret: 'whsec_444555666',
    fee_percent: 0,
    fee_fixed_cents: 0,
    top_up_usd: { min: 5, max: 1_000, choices: [20, 50] },
  });
  assert.deepEqual(warnings, []);
});

test('one secret without the other is refused without showing it', () => {
  for (const [yaml, field] of [
    ['stripe: { secret_key: sk_live_000111222333 }', 'stripe.webhook_secret'],
    ['stripe: { webhook_secret: whsec_444555666 }', 'stripe.secret_key'],
    ['stripe: { secret_key: pk_live_000111222333 }', 'stripe.secret_key'],
  ] as const) {
    const error = faultOf(yaml);
    assert.equal(error.fault.field, field);
    assert.doesNotMatch(error.message, /000111222333|444555666/);
  }
});

test('a card fee is off by default and has at most four decimals', () => {
  const { stripe } = loadYaml(`stripe: { ${secrets}, fee_percent: 2.9001, fee_fixed_cents: 30 }`);
  assert.deepEqual([stripe!.fee_percent, stripe!.fee_fixed_cents], [2.9001, 30]);
});

const refused = {
  'fee_percent: 2.90001': 'fee_percent',
  'fee_percent: -1': 'fee_percent',
  'fee_fixed_cents: 0.5': 'fee_fixed_cents',
  'top_up_usd: { min: 5.005 }': 'top_up_usd.min',
  'top_up_usd: { min: 20, max: 10, choices: [] }': 'top_up_usd.min',
  'top_up_usd: { choices: [10, 2000] }': 'top_up_usd.choices[1]',
};
for (const [field, named] of Object.entries(refused)) {
  test(`fees have few decimals, and amounts are whole cents within bounds: ${field} is refused`, () => {
    assert.equal(faultOf(`stripe: { ${secrets}, ${field} }`).fault.field, `stripe.${named}`);
  });
}

test('a test mode key causes a warning', () => {
  const { warnings } = loadYaml(
    'stripe: { secret_key: sk_test_000111222333, webhook_secret: whsec_1 }',
  );
  assert.match(warnings.join(), /without anybody paying/);
});
