import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { countPdfPages, pdfPagesMax } from './pdf-pages.ts';

const page = (type = '/Type /Page') => `1 0 obj\n<< ${type} /Parent 2 0 R >>\nendobj\n`;
const stream = (text: string) =>
  `3 0 obj\n<< /Length 1 /Filter /FlateDecode >>\nstream\n${deflateSync(text).toString('latin1')}\nendstream\nendobj\n`;
const packed = (text: string) => stream(text).replace('<<', '<< /Type /ObjStm /N 4');
const contents = (count: number) =>
  Array.from({ length: count }, (_, index) => stream(`(${index}) Tj`)).join('');

const cases: Readonly<Record<string, [text: string, pages: number]>> = {
  'pages in the open': [page().repeat(3) + contents(9), 3],
  'no space, and a line break': [page('/Type/Page') + page('/Type\r\n/Page'), 2],
  'the tree is no page': [page() + '<< /Type /Pages /Kids [1 0 R] /Count 1 >>', 1],
  'more pages in the tree than in the open': [page() + '<< /Type /Pages /Count 40 >>', 40],
  'packed pages are at most as many as there are streams': [
    packed(page().repeat(5)) + contents(5),
    6,
  ],
  'one in the open and the rest packed': [page() + packed(page().repeat(5)) + contents(6), 7],
  'what says nothing has one page': ['%PDF-1.7', 1],
  'a closed outline has a count below 0': [`${page()}<< /Type /Outlines /Count -40 >>`, 1],
  'no more than any vendor takes': [page().repeat(5_000), pdfPagesMax],
  'a count out of all bounds': ['<< /Count 99999999999999999999 >>', pdfPagesMax],
};

for (const [name, [text, pages]] of Object.entries(cases)) {
  test(`PDF pages: ${name}`, () => assert.equal(countPdfPages(Buffer.from(text, 'latin1')), pages));
}

test('hostile files take one pass', () => {
  for (const piece of [
    '/',
    '/Type',
    '/Type       ',
    '/Count 1',
    'endstrea',
    'e',
    '/Type /Pages ',
    ' ',
  ]) {
    const bytes = Buffer.from(piece.repeat(Math.ceil(8_000_000 / piece.length)), 'latin1');
    assert.ok(cpuMsOf(() => countPdfPages(bytes)) < 2_000, JSON.stringify(piece));
  }
});
