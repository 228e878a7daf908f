import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command, InvalidArgumentError } from 'commander';
import {
  none,
  parseCount,
  parseDays,
  parseFactor,
  parseModelList,
  parseName,
  parseUsd,
  parseUsdCap,
} from './parse.ts';

test('amounts are parsed exactly, to the microdollar', () => {
  assert.equal(parseUsd('12.50'), 12_500_000);
  assert.equal(parseUsd('0.000001'), 1);
  assert.equal(parseUsdCap('0'), 0);
});

test('a typing error in an amount is refused', () => {
  for (const text of ['', 'ten', '1,50', '0.0000001', '1e3', '0x10', ' ', '--5']) {
    assert.throws(() => parseUsd(text), InvalidArgumentError, text);
    assert.throws(() => parseUsdCap(text), InvalidArgumentError, text);
  }
  assert.throws(() => parseUsd('0'), InvalidArgumentError);
  assert.throws(() => parseUsdCap('-1'), InvalidArgumentError);
});

test('a refusal says what would be accepted', () => {
  assert.throws(() => parseFactor('half'), { message: /^It must be a number from 0 to 1000 with/ });
  assert.throws(() => parseFactor('1001'), { message: /^It must be a number from 0 to 1000 with/ });
  assert.throws(() => parseUsd('9999999999'), { message: /at most nine digits before/ });
  assert.throws(() => parseDays('0'), { message: /^It must be a whole number of days from 1 on/ });
  // How many are allowed depends on the configuration, which the command reads later.
  assert.equal(parseDays('400'), 400);
});

test('names, counts and lists are parsed strictly', () => {
  assert.equal(parseName(' Ada '), 'Ada');
  assert.equal(parseCount('600'), 600);
  assert.deepEqual(parseModelList('a, b'), ['a', 'b']);
  for (const text of ['-1', '1.5', 'many'])
    assert.throws(() => parseCount(text), InvalidArgumentError, text);
  for (const text of ['', 'a,,b', ','])
    assert.throws(() => parseModelList(text), InvalidArgumentError, text);
  assert.throws(() => parseName(' '), InvalidArgumentError);
});

test('"none" reaches a command as the value that clears a limit', async () => {
  for (const parse of [parseUsdCap, parseCount, parseModelList] as const) {
    let seen: unknown;
    const command = new Command().option(
      '--limit <value>',
      'a limit',
      parse as (text: string) => unknown,
    );
    command.action((options: { limit?: unknown }) => {
      seen = options.limit;
    });
    await command.parseAsync(['--limit', 'none'], { from: 'user' });
    assert.equal(seen, none);
  }
});
