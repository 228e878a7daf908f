import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { invitationMail, passkeyMail } from './messages.ts';

const link = 'https://gate.example/page?token=abc';

/** Every e-mail with a name that somebody chose. */
const mails: Readonly<
  Record<string, (name: string) => { readonly subject: string; readonly text: string }>
> = {
  'an invitation to an account': (accountName) =>
    invitationMail({ accountName, invitedBy: 'Ann', role: 'member', link }),
  'an invitation by a user': (invitedBy) =>
    invitationMail({ accountName: 'Acme', invitedBy, role: 'owner', link }),
  'a new passkey': (name) => passkeyMail({ kind: 'added', name }),
  'a removed passkey': (name) => passkeyMail({ kind: 'removed', name }),
};

/** The texts that a generous mail program makes links of. */
function linksIn(text: string): readonly string[] {
  const read = text.replace(link, '').normalize('NFKC').replaceAll('\u3002', '.');
  const patterns = [
    /[\p{L}\p{N}_-]\.[\p{L}\p{N}\p{Cf}]+/gu,
    /[a-z][a-z0-9+.-]*:[\p{L}\p{N}/\\[+]\S*/giu,
    /\S*@[\p{L}\p{N}]\S*/gu,
    /\\\\?\w+/g,
    /:\/\/\S+/g,
  ];
  return patterns.flatMap((pattern) => read.match(pattern) ?? []);
}

const linesOf = (text: string) => text.split(/[\n\r\u0085\u2028\u2029]/).length;

const addresses = [
  'evil.example/login',
  'evil.example',
  'EVIL.EXAMPLE',
  'www.evil.example',
  'https://evil.example/x',
  'hxxp://evil',
  'mailto:a@evil.example',
  'tel:+15550100',
  'a@evil.example',
  'a@evil',
  '10.0.0.1/login',
  '[::1]:80',
  '\\\\evil\\share',
  'evil\u3002example',
  'evil\uff0eexample',
  'evil\uff61example',
  'evil\u2024example',
  'evil.\u200bexample',
  'evil.\u00adexample',
  '\uff57\uff57\uff57\uff0eevil\uff0eexample',
  'https\uff1a//evil',
  'a\uff20evil',
  'Ann\nhttps://evil.example',
  'Ann\u2028evil.example',
  'Ann\u0085evil.example',
  `${'x'.repeat(58)}.example`,
  `${'\u{1f600}'.repeat(59)}.example`,
];

for (const [which, mail] of Object.entries(mails)) {
  test(`no name becomes a link in the e-mail about ${which}`, () => {
    const plain = mail('Acme');
    const check = (name: string) => {
      const { subject, text } = mail(name);
      assert.deepEqual([...linksIn(subject), ...linksIn(text)], [], JSON.stringify(name));
      assert.equal(linesOf(text), linesOf(plain.text), JSON.stringify(name));
      assert.equal(linesOf(subject), 1);
      assert.ok(text.isWellFormed() && subject.isWellFormed());
    };
    for (const address of addresses)
      for (const name of [address, `Ann ${address}`, `Ann(${address})`, `${address}.`]) check(name);
    const parts = fc.constantFrom(...addresses, '.', ':', '@', '\\', '/', ' ', '\n', '\u200b');
    const names = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.oneof(parts, fc.string({ maxLength: 3 })), { maxLength: 8 })
        .map((all) => all.join('')),
    );
    fc.assert(fc.property(names, check));
  });
}

test('ordinary names stay readable in e-mails', () => {
  const shown = (name: string) => mails['an invitation to an account']!(name).subject;
  for (const name of ['Acme & Co. KG', 'AC/DC', 'Zoë O’Neill-Smith', '東京チーム', 'R+D (24/7)'])
    assert.equal(shown(name), `You are invited to ${name}`);
  assert.equal(shown('J.R.R. Tolkien'), 'You are invited to J. R. R. Tolkien');
  assert.equal(shown('x'.repeat(61)), `You are invited to ${'x'.repeat(60)}...`);
});
