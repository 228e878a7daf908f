// Usage in the dashboard once more, on PostgreSQL.
process.env['TOLLGATE_TEST_DATABASE'] = 'postgres';
await import('./dashboard-usage.test.ts');
