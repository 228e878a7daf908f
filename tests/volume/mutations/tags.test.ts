// Removes each guard of tags in turn: their own tests must fail.
import { testMutations } from '../../support/mutations.ts';

const tags = 'tests/contract/tags.test.ts';
const seals = 'tests/contract/seals.test.ts';
const retention = 'tests/contract/retention.test.ts';
const table = 'domain/ledger/table.ts';
const compareTags = 'domain/ledger/reports/compare-tags.ts';
const verify = 'domain/ledger/reports/verify.ts';
const exportFile = 'domain/ledger/seals/export-file.ts';

testMutations([`${tags} # on SQLite after a random history`], {
  'the sum of a tag is its last charge': {
    file: table,
    guard: '${name}.${column} + excluded.${column}',
    without: 'excluded.${column}',
  },
  'a tag has one charge in each batch': {
    file: table,
    guard: 'if (!known) {',
    without: 'if (!known || known !== row) {',
  },
  'sums by tag mix the keys': {
    file: table,
    guard: "key.map((column) => row[column]).join(' ')",
    without: "key.map((column) => column !== 'key_id' && row[column]).join(' ')",
  },
});

testMutations([`${tags} # on SQLite verify finds`], {
  'sums by tag are not verified': {
    file: verify,
    guard: '(within) => compareTags(within, { fromMs: sinceMs ?? removingUntilMs }),',
  },
  'a tag without a charge is passed over': {
    file: compareTags,
    guard: 'return tagWithoutCharge(row);',
    without: 'continue;',
  },
});

testMutations([`${seals} # on SQLite (verify --all finds a tag|any change of the tags)`], {
  'the tags of a sealed day are not compared': {
    file: verify,
    guard: 'return seal.tags_digest === null || tagsDigest === seal.tags_digest',
    without: 'return seal.tags_digest === null || tagsDigest !== null',
  },
  'a seal covers tags, but not whose they are': {
    file: 'domain/ledger/seals/digests.ts',
    guard: 'JSON.stringify([chargeId, tags])',
    without: `JSON.stringify(['', tags, chargeId.slice(0, 0)])`,
    watchers: [`${seals} # on SQLite verify --all finds tags that moved`],
  },
  'a seal may lose the digest of its tags': {
    file: 'domain/ledger/seals/seals.ts',
    guard: `seal.tags_digest === null ? digested : [...digested, 'tags_digest' as const]`,
    without: 'digested',
    watchers: [`${seals} # on SQLite a seal that lost`],
  },
  'a seal without tags is digested with them': {
    file: 'domain/ledger/seals/digests.ts',
    guard: 'tagDays ? [...columns, ...tagDayColumns] : columns',
    without: '[...columns, ...tagDayColumns]',
    watchers: ['src/domain/ledger/seals/digests.test.ts'],
  },
  'a day is sealed whose tags differ from their sums': {
    file: 'domain/ledger/seals/seal-day.ts',
    guard: '(await compareTags(db, { fromMs: from.untilMs, toMs: untilMs }))',
    without: 'null',
    watchers: [`${seals} # on SQLite a day that does not agree`],
  },
});

testMutations([`${retention} # on SQLite (charges of old days|a changed sum|a file whose tags)`], {
  'the tags of a file are not compared': {
    file: exportFile,
    guard: '(seal.tags_digest === null || tags.end() === seal.tags_digest)',
    without: 'tags.end() !== null',
  },
  'files have no tags': {
    file: exportFile,
    guard: 'yield page',
    without: 'yield page.map((row) => ({ ...row, tags: [] }))',
  },
  'sums by tag are not sealed': {
    file: 'domain/ledger/seals/digests.ts',
    guard: 'sorted(tagDays ?? [], tagDaysTable.idOf)',
    without: 'sorted((tagDays ?? []).slice(0, 0), tagDaysTable.idOf)',
  },
  'tags stay when their charges are removed': {
    file: 'domain/ledger/seals/remove-days.ts',
    guard: 'if (!(await deleteTags(database, options))) return null;',
  },
});

testMutations(['src/domain/activity/measured-tags.test.ts'], {
  'latencies are kept for any number of tags': {
    file: 'domain/activity/measured-tags.ts',
    guard: 'values.size >= measuredValuesMax || count >= measuredTagsMax',
    without: 'values.size >= measuredValuesMax',
  },
  'latencies are kept for any number of end users': {
    file: 'domain/activity/measured-tags.ts',
    guard: 'values.size >= measuredValuesMax || count >= measuredTagsMax',
    without: 'count >= measuredTagsMax',
  },
});
