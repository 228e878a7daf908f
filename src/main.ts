// Process entry. Kept small so that the compile cache is on before the rest loads: a start then
// takes a third of the time.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

// Otherwise V8 comes to put objects of a request that often outlive a collection into its old
// generation at once. There they keep everything that they refer to until the next full collection,
// so that nearly everything outlives a collection (docs/internals.md, Garbage).
setFlagsFromString('--no-allocation-site-pretenuring');
enableCompileCache(join(import.meta.dirname, '.compile-cache'));
const { runCommandLine } = await import('./cli/program.ts');
await runCommandLine(process.argv);
