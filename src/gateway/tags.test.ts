import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../canonical/errors.ts';
import fc from '../../tests/support/property.ts';
import { readTags, tagsMax } from './tags.ts';

const tagger = (endUsers = false) => ({
  headers: { tags: 'X-Service-Tags' },
  config: { tags: { end_users: endUsers } },
});
const read = (header?: string, body = {}, endUsers = false) =>
  readTags(tagger(endUsers), header, body);

test('the header lists words and pairs', () => {
  assert.deepEqual(read('project=alpha, env=prod ,nightly'), [
    'project=alpha',
    'env=prod',
    'nightly',
  ]);
  assert.deepEqual(read('mail=ann+x@example.com'), ['mail=ann+x@example.com']);
  assert.equal(read(), undefined);
});

test('a header of another form is refused by its name', () => {
  const many = Array.from({ length: tagsMax + 1 }, (_, index) => `t${index}`).join(',');
  const texts = ['', ' ', ',', 'a,', 'a=', '=b', 'a=b=c', 'a b', 'ä', '"a"', 'a\tb', 'a%', many];
  const long = ['n'.repeat(65), `n=${'v'.repeat(129)}`];
  for (const text of [...texts, ...long, 'a, a', 'a=1, a=2', 'a, a=1'])
    assert.throws(
      () => read(text),
      (error) => error instanceof ApiError && error.param === 'X-Service-Tags',
      text,
    );
});

test('metadata counts where it has the form of a tag, and the header comes first', () => {
  const metadata = { project: 'beta', team: 'x', note: 'two words', n: 1, user_id: 'ann' };
  assert.deepEqual(read('project=alpha', { metadata }), ['project=alpha', 'team=x']);
  assert.deepEqual(read(undefined, { labels: { team: 'x' } }), ['team=x']);
  assert.equal(read(undefined, { metadata: 'x' }), undefined);
  assert.equal(read(undefined, { metadata: null }), undefined);
});

test('end users count only if the operator says so', () => {
  for (const body of [
    { user: 'ann' },
    { safety_identifier: 'ann' },
    { metadata: { user_id: 'ann' } },
  ]) {
    assert.equal(read(undefined, body), undefined);
    assert.deepEqual(read(undefined, body, true), ['user=ann']);
    assert.deepEqual(read('user=bob', body, true), ['user=bob']);
  }
  assert.equal(read(undefined, { user: 'Ann Smith' }, true), undefined);
});

test('any header and body give at most ten tags, each name once, or a refusal', () => {
  const word = fc.stringMatching(/^[\w.,= -]{0,12}$/);
  const metadata = fc.dictionary(fc.string(), fc.oneof(fc.string(), word, fc.integer()));
  fc.assert(
    fc.property(fc.option(word, { nil: undefined }), metadata, (header, entries) => {
      let tags: readonly string[] = [];
      try {
        tags = read(header, { metadata: entries }, true) ?? [];
      } catch (error) {
        assert.ok(error instanceof ApiError);
      }
      const names = tags.map((tag) => tag.split('=')[0]);
      assert.ok(tags.length <= tagsMax);
      assert.equal(new Set(names).size, names.length);
      for (const tag of tags) assert.match(tag, /^[\w.:/@+-]{1,64}(=[\w.:/@+-]{1,128})?$/);
    }),
  );
});
