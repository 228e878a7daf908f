// Runs several test files in one process, one after the other: a file is loaded when the tests of the
// one before are over, because many start a gateway as they are loaded. To load the sources and to
// warm up takes more CPU time than most files' tests do.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const standIn = new URL('batched-test.ts', import.meta.url).href;

/** `files`: paths from the repository's root. */
export async function runBatch(files: readonly string[]): Promise<void> {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'node:test' && context.parentURL !== standIn
        ? { url: standIn, shortCircuit: true }
        : next(specifier, context),
  });
  const { collect, runSuite } = await import('./batched-test.ts');
  for (const file of files) {
    collect();
    await import(pathToFileURL(file).href);
    // `both-stores.ts` registers its tests after the file is loaded.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await runSuite(file);
  }
}
