// The overview of the dashboard once more, with PostgreSQL behind the gateway.
process.env['TOLLGATE_TEST_DATABASE'] = 'postgres';
await import('./dashboard-overview.test.ts');
