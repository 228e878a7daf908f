import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseUnusable } from '../database-error.ts';
import { addressOf, explainPostgresError, isServerUnavailable } from './error.ts';

const url = 'postgres://me:hush@db.internal:5433/books';

test('an address is reported without its password', () => {
  assert.deepEqual(addressOf(url), { server: 'db.internal:5433', database: 'books', user: 'me' });
  assert.deepEqual(addressOf('postgresql:///books?host=/run/pg'), {
    server: '/run/pg',
    database: 'books',
    user: 'the system user',
  });
  assert.equal(addressOf('postgres://me@%2Frun%2Fpg/books').server, '/run/pg');
});

test('every failure that an operator can fix says how', () => {
  const codes =
    'ECONNREFUSED ENOTFOUND 28P01 3D000 42501 57P03 53300 SELF_SIGNED_CERT_IN_CHAIN'.split(' ');
  const errors = codes.map((code) => Object.assign(new Error('hush'), { code }));
  const messages = [
    'The server does not support SSL connections',
    'client password must be a string',
    'timeout expired',
  ];
  for (const error of [...errors, ...messages.map((message) => new Error(message))]) {
    const explained = explainPostgresError(error, url);
    assert.ok(explained instanceof DatabaseUnusable, error.message);
    assert.match(
      explained.message,
      /\. (Check|Create|Run|Try|Raise|Set|Remove)|postgres:\/\/user:password@/,
    );
    assert.ok(!explained.message.includes('hush'));
    assert.equal(explained.cause, error);
  }
});

test('every refusal of a connection pooler says how to fix it', () => {
  const messages = [
    'unsupported startup parameter: options',
    'transaction blocks not allowed in statement pooling mode',
    'SASL authentication failed',
    'database "books" does not exist',
    'no more connections allowed (max_client_conn)',
  ];
  for (const message of messages) {
    const explained = explainPostgresError(
      Object.assign(new Error(message), { code: '08P01' }),
      url,
    );
    assert.ok(explained instanceof DatabaseUnusable, message);
    assert.match(
      explained.message,
      /^The connection pooler at db\.internal.*\. (Remove|Set|Check) /,
    );
  }
});

test('any other error is returned unchanged', () => {
  const error = new Error('a bug');
  assert.equal(explainPostgresError(error, url), error);
});

test('an unavailable server is distinguished from a wrong statement', () => {
  const withCode = (code: string, fields: object = {}) =>
    Object.assign(new Error('x'), { code, ...fields });
  for (const code of '57P01 08006 53300 53100 25006 ECONNREFUSED ECONNRESET EPIPE'.split(' '))
    assert.ok(isServerUnavailable(withCode(code)), code);
  assert.ok(isServerUnavailable(withCode('ENOENT', { syscall: 'connect' })));
  assert.ok(isServerUnavailable(new Error('Connection terminated unexpectedly')));
  for (const code of ['23505', '42P01', '57014', 'ENOENT', 'EACCES'])
    assert.ok(!isServerUnavailable(withCode(code)), code);
  assert.ok(!isServerUnavailable(null));
});
