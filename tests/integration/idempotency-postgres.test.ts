// The rules of the Idempotency-Key once more, with PostgreSQL behind the gateway.
process.env['TOLLGATE_TEST_DATABASE'] = 'postgres';
await import('./idempotency.test.ts');
