import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { isSigned } from '../../../tests/support/webhook-receiver.ts';
import { newSigningSecret, signatureOf } from './signature.ts';

const secret = 'whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=';
const timestamp = 1_795_802_400;
const low =
  '{"type":"balance.low","timestamp":"2026-11-27T18:00:00.000000Z","data":{"account":"acc_made_up","balance_micros":1234567}}';

/** From a set of vectors of Standard Webhooks. */
const vectors = [
  ['msg_made_up_1', low, 'v1,b7ml8FT7q8UiTh2ylwdSJXwSbINmNzM+9HVZdTcuJv4='],
  ['msg_made_up_2', '{"name":"Zoë"}', 'v1,PeP91TbNHSkRg/WLTTC3Doi7So0m3HTWYplnK6A+wgU='],
] as const;

for (const [id, body, signature] of vectors)
  test(`the signature of ${id} is that of the vector`, () => {
    assert.equal(signatureOf(secret, { id, timestamp, body }), signature);
    const other = `v1,${Buffer.alloc(32).toString('base64')} ${signature}`;
    for (const given of [signature, other])
      assert.ok(isSigned({ id, timestamp, signature: given, text: body }, secret));
    const spaced = body.replace(':', ': ');
    assert.equal(isSigned({ id, timestamp, signature, text: spaced }, secret), false);
  });

test('any message is verified by its secret, and by no other', () => {
  const text = fc.string({ unit: 'binary', maxLength: 2_000 });
  fc.assert(
    fc.property(fc.uuid(), text, fc.nat(), (id, body, at) => {
      const [one, other] = [newSigningSecret(), newSigningSecret()];
      const message = { id, timestamp: at, body };
      const signed = { id, timestamp: at, text: body, signature: signatureOf(one, message) };
      assert.deepEqual(
        [one, other].map((each) => isSigned(signed, each)),
        [true, false],
      );
    }),
  );
});

test('a new secret has 32 bytes, as the standard asks for 24 to 64', () => {
  const made = newSigningSecret();
  assert.equal(Buffer.from(made.replace(/^whsec_/, ''), 'base64').length, 32);
  assert.notEqual(made, newSigningSecret());
});
