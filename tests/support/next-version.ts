// Makes a program the next version of itself: `node --import` this, and it has a made-up migration.
import { registerHooks } from 'node:module';

const list = new URL('../../src/db/migrations/list.ts', import.meta.url).href;
const longer = new URL('./made-up-migration.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context);
    return resolved.url === list && context.parentURL !== longer
      ? { ...resolved, url: longer }
      : resolved;
  },
});
