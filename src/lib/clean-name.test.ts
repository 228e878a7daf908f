import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanName } from './clean-name.ts';

test('a name is one line, and turns no text around it', () => {
  const cases: readonly [string, string][] = [
    ['  Ada\n\tLovelace\0 ', 'Ada Lovelace'],
    ['Evil \u202Egnp.exe', 'Evil gnp.exe'],
    ['\u2066A\u2069\u200F', 'A'],
    ['عمر الخيام', 'عمر الخيام'],
    // A zero-width joiner belongs to the emoji.
    ['👩\u200D💻', '👩\u200D💻'],
    ['\u202E', ''],
    ['\u200B \u3164\uFEFF', ''],
  ];
  for (const [text, name] of cases) assert.equal(cleanName(text), name);
});
