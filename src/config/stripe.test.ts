import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError } from './config-error.ts';
import { loadConfig } from './load.ts';

const cwd = mkdtempSync(join(tmpdir(), 'tollgate-stripe-'));
after(() => rmSync(cwd, { recursive: true }));

function load(yaml: string) {
  writeFileSync(join(cwd, 'tollgate.yaml'), yaml);
  return loadConfig({ env: {}, cwd });
}

function fault(yaml: string): ConfigError {
  try {
    load(yaml);
  } catch (error) {
    assert(error instanceof ConfigError);
    return error;
  }
  return assert.fail(`accepted: ${yaml}`);
}

const secrets = 'secret_key: sk_live_000111222333, webhook_secret: whsec_444555666';

test('without its two secrets Stripe is not configured', () => {
  const { stripe, billing } = load('service: {}');
  assert.equal(stripe, null);
  assert.equal(billing.contact, null);
});

test('amounts have defaults, choices are sorted without duplicates, and the address is Stripe’s', () => {
  const { stripe, warnings } = load(
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
    const error = fault(yaml);
    assert.equal(error.fault.field, field);
    assert.doesNotMatch(error.message, /000111222333|444555666/);
  }
});

test('a card fee is off by default and has at most four decimals', () => {
  const { stripe } = load(`stripe: { ${secrets}, fee_percent: 2.9001, fee_fixed_cents: 30 }`);
  assert.deepEqual([stripe!.fee_percent, stripe!.fee_fixed_cents], [2.9001, 30]);
  assert.equal(
    fault(`stripe: { ${secrets}, fee_percent: 2.90001 }`).fault.field,
    'stripe.fee_percent',
  );
  assert.equal(fault(`stripe: { ${secrets}, fee_percent: -1 }`).fault.field, 'stripe.fee_percent');
  assert.equal(
    fault(`stripe: { ${secrets}, fee_fixed_cents: 0.5 }`).fault.field,
    'stripe.fee_fixed_cents',
  );
});

test('amounts are whole cents, and choices are from the minimum to the maximum', () => {
  assert.equal(
    fault(`stripe: { ${secrets}, top_up_usd: { min: 5.005 } }`).fault.field,
    'stripe.top_up_usd.min',
  );
  assert.equal(
    fault(`stripe: { ${secrets}, top_up_usd: { min: 20, max: 10, choices: [] } }`).fault.field,
    'stripe.top_up_usd.min',
  );
  const choice = fault(`stripe: { ${secrets}, top_up_usd: { choices: [10, 2000] } }`);
  assert.equal(choice.fault.field, 'stripe.top_up_usd.choices[1]');
});

test('a test mode key causes a warning', () => {
  const { warnings } = load(
    'stripe: { secret_key: sk_test_000111222333, webhook_secret: whsec_1 }',
  );
  assert.match(warnings.join(), /without anybody paying/);
});
