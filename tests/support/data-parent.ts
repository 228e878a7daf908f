import { tmpdir } from 'node:os';

/** Where the folders of databases are made: `npm test` names one in memory. */
export const dataParent = (): string => process.env['TOLLGATE_TEST_DATA'] ?? tmpdir();
