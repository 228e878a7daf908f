// The types of a client, generated from a document by `openapi-typescript`.
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * Returns the text of a `.d.ts` file. The generator needs the compiler's old JavaScript API, which
 * TypeScript 7 no longer has; `ts-json-schema-generator` brings a version that has it.
 */
export async function writeClientTypes(document: string): Promise<string> {
  const require = createRequire(import.meta.url);
  const beside = createRequire(require.resolve('ts-json-schema-generator'));
  const compiler = pathToFileURL(beside.resolve('typescript')).href;
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === 'typescript' ? compiler : specifier, context),
  });
  try {
    const { default: generate, astToString } = await import('openapi-typescript');
    return astToString(await generate(document));
  } finally {
    hooks.deregister();
  }
}
