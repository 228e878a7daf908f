// The rules of the cache once more, with PostgreSQL behind the gateway.
process.env['TOLLGATE_TEST_DATABASE'] = 'postgres';
await import('./cache.test.ts');
