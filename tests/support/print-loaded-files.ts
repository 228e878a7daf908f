// Preloaded into a program: each of its threads prints the files that it loads, after the name of
// its own entry file.
import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

registerHooks({
  load: (url, context, next) => {
    if (url.startsWith('file:'))
      writeSync(2, `loaded by ${basename(process.argv[1]!)}: ${fileURLToPath(url)}\n`);
    return next(url, context);
  },
});
