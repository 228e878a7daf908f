// Who may call what in the dashboard's API, once more with PostgreSQL behind the gateway.
process.env['TOLLGATE_TEST_DATABASE'] = 'postgres';
await import('./dashboard-access.test.ts');
