// What the test files of a run share. The runner loads this module (`--test-global-setup`): it chooses the seed of the random numbers. A
// test file that is run by itself has a seed of its own.
import { seed } from './random.ts';

/** Called in the runner before the first test file. */
export function globalSetup(): void {
  console.error(`Random numbers of this run: TOLLGATE_TEST_SEED=${seed}`);
  process.env['TOLLGATE_TEST_SEED'] = String(seed);
}
