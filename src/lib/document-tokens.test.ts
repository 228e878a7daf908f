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
const { upper: ofWhole } = addressedDocumentTokens;
const ofAddress = { least: ofWhole, most: ofWhole + 500 };
const noMoreThanText = { least: 0, most: 500 };

const document = (source: object, more: object = {}) => ({ type: 'document', source, ...more });
const file = (fields: object) => ({ type: 'file', file: fields });
const inputFile = (fields: object) => ({ type: 'input_file', ...fields });
const pdfUri = (pages: number) => `data:application/pdf;base64,${pdf(pages)}`;

const base64Pdf = (pages: number) => ({
  type: 'base64',
  media_type: 'application/pdf',
  data: pdf(pages),
});
const asText = (text: string) => file({ file_data: `data:text/plain;base64,${base64(text)}` });
const asImage = { least: ofPages(3).least, most: ofPages(3).most + 4_800 };
const upperPdf = pdfUri(3).replace('application/pdf', 'Application/PDF');
const besideText = { least: 30_000, most: 60_000 };
const picture = { type: 'image', source: { type: 'base64', data: base64(prose) } };
const packed = (content: string) => `PK\x03\x04${content}`;

type Case = readonly [part: object, { readonly least: number; readonly most: number }];
const cases: Readonly<Record<string, Case>> = {
  'Messages: a PDF': [document(base64Pdf(3)), ofPages(3)],
  'Chat: a PDF': [file({ filename: 'a.pdf', file_data: pdfUri(7) }), ofPages(7)],
  'Chat: a PDF without its type': [file({ file_data: pdf(2) }), ofPages(2)],
  'a PDF that is called something else': [
    file({ file_data: `data:application/octet-stream;base64,${pdf(5)}` }),
    ofPages(5),
  ],
  'Responses: a PDF': [inputFile({ filename: 'a.pdf', file_data: pdfUri(1) }), ofPages(1)],
  'Responses: a PDF in an address': [inputFile({ file_url: pdfUri(4) }), ofPages(4)],
  'Messages: an address': [document({ type: 'url', url: 'https://example.com/a.pdf' }), ofAddress],
  'Responses: an address': [inputFile({ file_url: 'https://example.com/a' }), ofAddress],
  'Messages: a text': [document({ type: 'text', media_type: 'text/plain', data: prose }), ofProse],
  'Messages: a content of blocks': [
    document({ type: 'content', content: [{ type: 'text', text: prose }] }),
    ofProse,
  ],
  'Messages: an image among its blocks': [
    document({ type: 'content', content: [picture] }),
    { least: 4_800, most: 5_300 },
  ],
  'a text in base64': [file({ file_data: `data:text/csv;base64,${base64(prose)}` }), ofProse],
  'a text that begins like a PDF': [asText(`%PDF-1.7 ${prose}`), ofProse],
  'a text whose type is not said': [inputFile({ file_data: base64(prose) }), ofProse],
  'an Office file, which is packed': [
    file({ filename: 'a.docx', file_data: base64(packed('\x00'.repeat(99_996))) }),
    { least: 50_000, most: 50_500 },
  ],
  'a text that begins like an Office file': [
    asText(packed('12345678'.repeat(1_000))),
    { least: 8_000, most: 10_000 },
  ],
  'a film as a file': [file({ file_data: 'data:Video/mp4;base64,AAAA' }), ofAddress],
  'a sound as a document': [
    document({ type: 'base64', media_type: 'audio/ogg', data: 'AAAA' }),
    ofAddress,
  ],
  'what is said of a document': [
    document({ type: 'base64', data: pdf(1) }, { context: prose }),
    besideText,
  ],
  'a field beside the document': [inputFile({ file_data: pdfUri(1), unknown: prose }), besideText],
  'a title alone': [document({}, { title: 'Invoice' }), noMoreThanText],
  'a document in a tool result': [
    { type: 'tool_result', content: [document(base64Pdf(2))] },
    ofPages(2),
  ],
  'Chat: a PDF for an image': [{ type: 'image_url', image_url: { url: upperPdf } }, asImage],
  'Responses: a PDF for an image': [{ type: 'input_image', image_url: pdfUri(3) }, asImage],
  'Messages: a PDF for an image': [{ type: 'image', source: base64Pdf(3) }, asImage],
  'two documents': [
    { content: [file({ file_data: pdfUri(2) }), file({ file_data: pdfUri(3) })] },
    ofPages(5),
  ],
};

for (const [name, [part, { least, most }]] of Object.entries(cases)) {
  test(`the hold covers ${name}`, () => {
    const messages = [{ role: 'user', content: [part] }];
    const { upper, likely } = estimateInputTokens({ messages }, { imageVendor: 'anthropic' });
    assert.ok(upper >= least && upper <= most, `${upper} is not within ${least} and ${most}`);
    assert.ok(likely <= upper);
  });
}

test('a large file is read in linear time', () => {
  const data = Buffer.alloc(12_000_000, '/Type').toString('base64');
  const content = [document({ type: 'base64', media_type: 'application/pdf', data })];
  assert.ok(cpuMsOf(() => estimateInputTokens({ content })) < 3_000);
});
