import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../canonical/errors.ts';
import { parseSearchRequest, queryCharactersMax } from './search-request.ts';

const accepted: [body: object, query: string, num: number][] = [
  [{ query: 'cats' }, 'cats', 10],
  [{ query: 'cats', num: 1 }, 'cats', 1],
  [{ query: 'cats', num: 50 }, 'cats', 50],
  [{ query: 'cats', num: null }, 'cats', 10],
  [{ query: ' c ', other: 1 }, ' c ', 10],
  [{ query: 'x\ud800' }, 'x�', 10],
  [{ query: 'q'.repeat(queryCharactersMax) }, 'q'.repeat(queryCharactersMax), 10],
];
for (const [body, query, num] of accepted) {
  test(`accepted: ${JSON.stringify(body).slice(0, 60)}`, () =>
    assert.deepEqual(parseSearchRequest(body), { query, num }));
}

const refused: [body: unknown, param: string | null, message: RegExp][] = [
  [{}, 'query', /^query is required: a non-empty string$/],
  [{ query: '' }, 'query', /^query must not be empty$/],
  [{ query: ' \n' }, 'query', /^query must not be blank$/],
  [{ query: 5 }, 'query', /^query must be a non-empty string; got 5$/],
  [{ query: null }, 'query', /^query must be a non-empty string; got null$/],
  [{ query: ['a'] }, 'query', /^query must be a non-empty string; got an array$/],
  [
    { query: 'q'.repeat(queryCharactersMax + 1) },
    'query',
    /^query must have at most 400 characters; got 401$/,
  ],
  [{ query: 'a', num: 0 }, 'num', /^num must be a whole number from 1 to 50; got 0$/],
  [{ query: 'a', num: 51 }, 'num', /^num must be a whole number from 1 to 50; got 51$/],
  [{ query: 'a', num: 1.5 }, 'num', /^num must be a whole number from 1 to 50; got 1.5$/],
  [{ query: 'a', num: '10' }, 'num', /^num must be a whole number from 1 to 50; got "10"$/],
  [{ query: 'a', num: -1 }, 'num', /^num must be/],
  ['cats', null, /^the body must be an object/],
  [['cats'], null, /^the body must be an object/],
  [null, null, /^the body must be an object/],
];
for (const [body, param, message] of refused) {
  test(`refused: ${JSON.stringify(body).slice(0, 60)}`, () => {
    assert.throws(
      () => parseSearchRequest(body),
      (error) =>
        error instanceof ApiError &&
        error.status === 400 &&
        error.param === param &&
        message.test(error.message),
    );
  });
}
