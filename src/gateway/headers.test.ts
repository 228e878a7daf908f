import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { test } from 'node:test';
import { anyCharacter } from '../../tests/support/any-text.ts';
import fc from '../../tests/support/property.ts';
import { writeNames } from './headers.ts';

test('names that a header can hold are listed as they are', () => {
  assert.equal(
    writeNames(['messages.name', 'input[3]', 'top_k']),
    'messages.name, input[3], top_k',
  );
});

test('other names are percent-encoded, so that a field of any name leaves a valid header', () => {
  assert.equal(
    writeNames(['a\r\nset-cookie: x', 'ключ', '\ud800']),
    'a%0D%0Aset-cookie%3A%20x, %D0%BA%D0%BB%D1%8E%D1%87, %EF%BF%BD',
  );
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter })), (names) =>
      validateHeaderValue('x-service-ignored', writeNames(names)),
    ),
  );
});

test('a list of thousands is cut and ends with the number left out', () => {
  const list = writeNames(Array.from({ length: 5_000 }, (_, index) => `field${index}`));
  assert.ok(list.length < 1_100);
  assert.match(list, /^field0, field1, .*, field\d+, and 4\d\d\d more$/);
  assert.equal(writeNames(['x'.repeat(2_000)]), 'and 1 more');
});
