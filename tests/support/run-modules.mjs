// Runs modules one after the other in one process, each as Node runs it from its standard input: to
// start Node and to load the vendors' packages takes longer than to run a sample. Reads a list of
// `{ code, key }` as JSON from its standard input, and prints a list of what each printed.
import { registerHooks } from 'node:module';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const samples = await json(process.stdin);
const codes = new Map(
  samples.map(({ code }, index) => [pathToFileURL(`sample-${index}.ts`).href, code]),
);
registerHooks({
  resolve: (specifier, context, next) =>
    codes.has(specifier) ? { url: specifier, shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    codes.has(url)
      ? { format: 'module-typescript', source: codes.get(url), shortCircuit: true }
      : next(url, context),
});

const write = process.stdout.write.bind(process.stdout);
const printed = [];
for (const stream of [process.stdout, process.stderr])
  stream.write = (piece) => {
    printed[printed.length - 1] += String(piece);
    return true;
  };
for (const [index, url] of [...codes.keys()].entries()) {
  printed.push('');
  process.env.TOLLGATE_KEY = samples[index].key;
  await import(url).catch(console.error);
}
write(JSON.stringify(printed), () => process.exit());
