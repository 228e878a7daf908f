import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { describeFolderFault } from './folder-fault.ts';

test('the fault of a folder is told in words, with the folder', () => {
  const cases = [
    ['EEXIST', import.meta.filename, `${import.meta.filename} is a file, not a folder`],
    ['ENOTDIR', '/no/such', 'a part of the path /no/such is a file, not a folder'],
    ['ENOENT', '/no/such', 'the folder /no/such does not exist'],
    ['EACCES', '/no/such', 'this user may not create the folder /no/such'],
    ['EACCES', tmpdir(), `this user may not write in the folder ${tmpdir()}`],
    ['EROFS', '/no/such', 'the folder /no/such is on a read-only file system'],
    ['EIO', '/no/such', null],
  ] as const;
  for (const [code, folder, expected] of cases)
    assert.equal(describeFolderFault(Object.assign(new Error(), { code }), folder), expected);
});
