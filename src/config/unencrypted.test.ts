import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from './schema.ts';
import { plainDatabaseWarnings, plainProviderWarnings } from './unencrypted.ts';

const warned = (baseUrl: string | null, enabled = true) =>
  plainProviderWarnings({ host: { enabled, base_url: baseUrl } } as unknown as Config['providers']);

test('a provider on another machine over plain http causes a warning', () => {
  for (const address of [
    'http://10.0.0.7:8000/v1',
    'http://vllm.internal/v1',
    'http://127.evil.example/v1',
    'http://[fd00::1]/v1',
  ])
    assert.match(warned(address).join(), /^The provider host is reached over plain http/, address);
  for (const address of [
    'https://vllm.internal/v1',
    'http://localhost:11434/v1',
    'http://127.0.0.1:1/v1',
    'http://[::1]:1/v1',
    'http://a.localhost/v1',
    null,
  ])
    assert.deepEqual(warned(address), [], String(address));
  assert.deepEqual(warned('http://10.0.0.7/v1', false), [], 'it is switched off');
});

test('PostgreSQL on another machine without TLS causes a warning', () => {
  for (const url of [
    'postgres://u:secret@db.internal/tollgate',
    'postgresql://10.0.0.7/t?sslmode=disable',
    'postgres:///t?host=db.internal',
  ]) {
    const [warning] = plainDatabaseWarnings(url, {});
    assert.match(warning ?? '', /without TLS/, url);
    assert.doesNotMatch(warning!, /secret/);
  }
  for (const url of [
    'sqlite:/var/lib/tollgate.db',
    'postgres://db.internal/t?sslmode=require',
    'postgres://db.internal/t?sslmode=verify-full',
    'postgres://db.internal/t?ssl=true',
    'postgres://localhost/t',
    'postgres://[::1]:5433/t',
    'postgresql:///t?host=/run/pg',
    'postgresql:///t',
    'postgres://%2Frun%2Fpg/t',
  ])
    assert.deepEqual(plainDatabaseWarnings(url, {}), [], url);
  assert.deepEqual(plainDatabaseWarnings('postgres://db.internal/t', { PGSSLMODE: 'require' }), []);
});
