// Preloaded into a program: each of its threads prints the files that it loads, after the name of
// its own entry file, and when it formats or compares by language.
import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const print = (what: string) => writeSync(2, what.replace('THREAD', basename(process.argv[1]!)));

registerHooks({
  load: (url, context, next) => {
    if (url.startsWith('file:')) print(`loaded by THREAD: ${fileURLToPath(url)}\n`);
    return next(url, context);
  },
});

const { Intl: own } = globalThis;
Object.defineProperty(globalThis, 'Intl', {
  get: () => {
    print('THREAD uses Intl\n');
    return own;
  },
});

// oxlint-disable-next-line no-extend-native -- it is restored by the process's end
String.prototype.localeCompare = function compare(other: string): number {
  print('THREAD uses localeCompare\n');
  return String(this) < other ? -1 : Number(String(this) > other);
};
