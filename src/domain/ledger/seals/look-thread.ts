// A look in a thread of its own, so that reading a day of charges delays no request. It ends after
// the look, and can be ended at any moment.
import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../../../db/database.ts';
import { newIdWithPrefix } from '../../../lib/ids.ts';
import { look } from './look.ts';
import type { LookSettings } from './sealing.ts';

const { databaseUrl, retention } = workerData as LookSettings;
/** It needs few connections, and reads long. */
const database = openDatabase(databaseUrl, { threads: 10, noQueryTimeout: true });
try {
  await look({
    database,
    owner: newIdWithPrefix('look'),
    retention,
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is a thread, not a window
    tell: (event) => parentPort?.postMessage(event),
  });
} finally {
  await database.close();
}
