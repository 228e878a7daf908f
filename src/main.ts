// Process entry. Kept small so that the compile cache is on before the rest loads: a start then
// takes a third of the time.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '.compile-cache'));
const { runCommandLine } = await import('./cli/program.ts');
await runCommandLine(process.argv);
