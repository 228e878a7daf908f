// Images once more, with PostgreSQL behind the gateway.
process.env['TOLLGATE_TEST_DATABASE'] = 'postgres';
await import('./images.test.ts');
await import('./image-failures.test.ts');
await import('./image-forms.test.ts');
await import('./image-refusals.test.ts');
await import('./image-spending.test.ts');
