// fast-check with the run's seed (see random.ts). Tests import it from here:
// `import fc from './property.ts'`.
import { configureGlobal } from 'fast-check';
import { seed } from './random.ts';

configureGlobal({ seed });
export { default } from 'fast-check';
