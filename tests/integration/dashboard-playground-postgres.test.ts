// The playground once more, on PostgreSQL.
process.env['TOLLGATE_TEST_DATABASE'] = 'postgres';
await import('./dashboard-playground.test.ts');
