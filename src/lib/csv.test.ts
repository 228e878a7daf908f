import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvRecord } from './csv.ts';

test('numbers and plain text are written unchanged, and null is an empty cell', () => {
  assert.equal(
    csvRecord(['gpt-6-luna', 12, -3, null, '', 'ünï 日本']),
    'gpt-6-luna,12,-3,,,ünï 日本\r\n',
  );
});

test('separators, quotes and line ends are quoted', () => {
  assert.equal(
    csvRecord(['a,b', 'say "hi"', 'two\nlines', 'cr\rlf']),
    '"a,b","say ""hi""","two\nlines","cr\rlf"\r\n',
  );
});

test('no text is read as a formula', () => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '＝1', '＋1', '－1', '＠A1'])
    assert.equal(csvRecord([text]), `'${text}\r\n`, text);
  assert.equal(csvRecord(['=HYPERLINK("http://x","y")']), `"'=HYPERLINK(""http://x"",""y"")"\r\n`);
  for (const end of ['\r', '\n']) assert.equal(csvRecord([`${end}=1`]), `"'${end}=1"\r\n`);
});
