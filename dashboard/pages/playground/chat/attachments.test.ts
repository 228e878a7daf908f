import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOf, problemWith } from './attachments.ts';

const png = { name: 'a.png', type: 'image/png', size: 10 };

test('images, PDFs and text files are told by their type, and code by its ending', () => {
  assert.equal(kindOf(png), 'image');
  assert.equal(kindOf({ name: 'a.pdf', type: 'application/pdf' }), 'pdf');
  assert.equal(kindOf({ name: 'a.csv', type: 'text/csv' }), 'text');
  assert.equal(kindOf({ name: 'main.go', type: '' }), 'text');
  assert.equal(kindOf({ name: 'a.zip', type: 'application/zip' }), null);
});

test('a file that is unknown or too large is refused by name', () => {
  const megabyte = 1024 * 1024;
  assert.equal(problemWith([png], 0), null);
  assert.match(problemWith([png, { name: 'a.zip', type: '', size: 1 }], 0)!, /^a\.zip is not an/);
  assert.match(
    problemWith([{ ...png, size: 8 * megabyte + 1 }], 0)!,
    /^a\.png is larger than 8 MB/,
  );
  assert.equal(problemWith([{ ...png, size: 8 * megabyte }], 8 * megabyte), null);
  assert.match(problemWith([{ ...png, size: 8 * megabyte }], 8 * megabyte + 1)!, /16 MB together/);
});
