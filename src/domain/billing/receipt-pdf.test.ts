import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { micros } from '../../lib/money.ts';
import { latinText, receiptPdf } from './receipt-pdf.ts';

const ascii = new Set(Array.from({ length: 95 }, (_, index) => index + 32));

test('letters that the font lacks are written in letters that it has', () => {
  const known = new Set([...ascii, 'é'.codePointAt(0)!, '€'.codePointAt(0)!]);
  assert.equal(latinText('Café e\u0301 9 €', known), 'Café é 9 €');
  assert.equal(latinText('Zażółć', known), 'Zazolc');
  assert.equal(latinText('北京\n  市\t', known), 'BeiJing Shi');
  assert.equal(latinText('a\u202Eb\u200Bc', known), 'abc');
});

test('any text gives a receipt', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(text, text, async (name, note) => {
      const letters = Array.from(latinText(name, ascii));
      assert.ok(letters.every((letter) => ascii.has(letter.codePointAt(0)!)));
      const pdf = await receiptPdf({
        title: 'Receipt',
        seller: [name],
        facts: [['Account', name]],
        amounts: [['Prepaid credit', micros(1)]],
        total: ['Paid', micros(1)],
        later: [],
        note,
        createdAtMs: 0,
      });
      assert.equal(Buffer.from(pdf.subarray(0, 5)).toString(), '%PDF-');
    }),
    { numRuns: 30 },
  );
});
