import { join } from 'node:path';
import { testMutations } from '../support/mutations.ts';

testMutations(join(import.meta.dirname, 'mutations'));
