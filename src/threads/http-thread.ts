// Entry of an HTTP thread. Kept small so that the compile cache is on before the rest loads, as in
// main.ts.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '.compile-cache'));
const { serveInThread } = await import('./serve-in-thread.ts');
await serveInThread();
