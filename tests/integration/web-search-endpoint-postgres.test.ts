// The endpoint of web searches once more, with PostgreSQL behind the gateway.
process.env['TOLLGATE_TEST_DATABASE'] = 'postgres';
await import('./web-search-endpoint.test.ts');
