// Holds for requests with documents, in the shapes of the three wire formats.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressedDocumentTokens, pageTokens } from './document-tokens.ts';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { estimateInputTokens } from './tokens.ts';

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');
const pdf = (pages: number) =>
  base64(`%PDF-1.7\n${'<< /Type /Page >>\n'.repeat(pages)}${'x'.repeat(50_000)}`);
const prose = 'The quick brown fox jumps over the lazy dog. '.repeat(1_000);
/** More than 20 000 half tokens, and less than a token a byte. */
const ofProse = { least: 22_000, most: 60_000 };
const ofPages = (pages: number) => ({
  least: pages * pageTokens.upper,
  most: pages * pageTokens.upper + 500,
});
const ofAddress = {
  least: addressedDocumentTokens.upper,
  most: addressedDocumentTokens.upper + 500,
};
const noMoreThanText = { least: 0, most: 500 };

const document = (source: object, more: object = {}) => ({ type: 'document', source, ...more });
const file = (fields: object) => ({ type: 'file', file: fields });
const inputFile = (fields: object) => ({ type: 'input_file', ...fields });
const pdfUri = (pages: number) => `data:application/pdf;base64,${pdf(pages)}`;

type Case = { readonly part: object; readonly least: number; readonly most: number };
const cases: Readonly<Record<string, Case>> = {
  'Messages: a PDF': {
    part: document({ type: 'base64', media_type: 'application/pdf', data: pdf(3) }),
    ...ofPages(3),
  },
  'Chat: a PDF': { part: file({ filename: 'a.pdf', file_data: pdfUri(7) }), ...ofPages(7) },
  'Chat: a PDF without its type': { part: file({ file_data: pdf(2) }), ...ofPages(2) },
  'a PDF that is called something else': {
    part: file({ file_data: `data:application/octet-stream;base64,${pdf(5)}` }),
    ...ofPages(5),
  },
  'Responses: a PDF': {
    part: inputFile({ filename: 'a.pdf', file_data: pdfUri(1) }),
    ...ofPages(1),
  },
  'Responses: a PDF in an address': { part: inputFile({ file_url: pdfUri(4) }), ...ofPages(4) },
  'Messages: an address': {
    part: document({ type: 'url', url: 'https://example.com/a.pdf' }),
    ...ofAddress,
  },
  'Responses: an address': { part: inputFile({ file_url: 'https://example.com/a' }), ...ofAddress },
  'Messages: a text': {
    part: document({ type: 'text', media_type: 'text/plain', data: prose }),
    ...ofProse,
  },
  'Messages: a content of blocks': {
    part: document({ type: 'content', content: [{ type: 'text', text: prose }] }),
    ...ofProse,
  },
  'Messages: an image among its blocks': {
    part: document({
      type: 'content',
      content: [{ type: 'image', source: { type: 'base64', data: base64(prose) } }],
    }),
    least: 4_800,
    most: 5_300,
  },
  'a text in base64': {
    part: file({ file_data: `data:text/csv;base64,${base64(prose)}` }),
    ...ofProse,
  },
  'a text that begins like a PDF': {
    part: file({ file_data: `data:text/plain;base64,${base64(`%PDF-1.7 ${prose}`)}` }),
    ...ofProse,
  },
  'a text whose type is not said': { part: inputFile({ file_data: base64(prose) }), ...ofProse },
  'an Office file, which is packed': {
    part: file({ filename: 'a.docx', file_data: base64(`PK\x03\x04${'\x00'.repeat(99_996)}`) }),
    least: 50_000,
    most: 50_500,
  },
  'a text that begins like an Office file': {
    part: file({
      file_data: `data:text/plain;base64,${base64(`PK\x03\x04${'12345678'.repeat(1_000)}`)}`,
    }),
    least: 8_000,
    most: 10_000,
  },
  'a film as a file': { part: file({ file_data: 'data:Video/mp4;base64,AAAA' }), ...ofAddress },
  'a sound as a document': {
    part: document({ type: 'base64', media_type: 'audio/ogg', data: 'AAAA' }),
    ...ofAddress,
  },
  'what is said of a document': {
    part: document({ type: 'base64', data: pdf(1) }, { context: prose }),
    least: 30_000,
    most: 60_000,
  },
  'a field beside the document': {
    part: inputFile({ file_data: pdfUri(1), unknown: prose }),
    least: 30_000,
    most: 60_000,
  },
  'a title alone': { part: document({}, { title: 'Invoice' }), ...noMoreThanText },
  'a document in a tool result': {
    part: {
      type: 'tool_result',
      content: [document({ type: 'base64', media_type: 'application/pdf', data: pdf(2) })],
    },
    ...ofPages(2),
  },
  'Chat: a PDF for an image': {
    part: {
      type: 'image_url',
      image_url: { url: pdfUri(3).replace('application/pdf', 'Application/PDF') },
    },
    least: ofPages(3).least,
    most: ofPages(3).most + 4_800,
  },
  'Responses: a PDF for an image': {
    part: { type: 'input_image', image_url: pdfUri(3) },
    least: ofPages(3).least,
    most: ofPages(3).most + 4_800,
  },
  'Messages: a PDF for an image': {
    part: {
      type: 'image',
      source: { type: 'base64', media_type: 'application/pdf', data: pdf(3) },
    },
    least: ofPages(3).least,
    most: ofPages(3).most + 4_800,
  },
  'two documents': {
    part: { content: [file({ file_data: pdfUri(2) }), file({ file_data: pdfUri(3) })] },
    ...ofPages(5),
  },
};

for (const [name, { part, least, most }] of Object.entries(cases)) {
  test(`the hold covers ${name}`, () => {
    const { upper, likely } = estimateInputTokens(
      { messages: [{ role: 'user', content: [part] }] },
      { imageVendor: 'anthropic' },
    );
    assert.ok(upper >= least && upper <= most, `${upper} is not within ${least} and ${most}`);
    assert.ok(likely <= upper);
  });
}

test('a large file is read in linear time', () => {
  const data = Buffer.alloc(12_000_000, '/Type').toString('base64');
  const content = [document({ type: 'base64', media_type: 'application/pdf', data })];
  assert.ok(cpuMsOf(() => estimateInputTokens({ content })) < 3_000);
});
