// fast-check with the seed of the run (see random.ts). Tests import it from here: `import fc from '../support/property.ts'`.
import { configureGlobal } from 'fast-check';
import { seed } from './random.ts';

configureGlobal({ seed });
export { default } from 'fast-check';
