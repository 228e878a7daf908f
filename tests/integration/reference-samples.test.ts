// The code of the API reference, generated from the gateway's own description: every sample can be
// read by its language, and those of the main calls do what they say. The group `guides` of
// `npm run test:all` does the same with Python and Go.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { callsOf, type ApiDocument } from '../../docs-site/client/reference/document.ts';
import { exampleRequest, type SampleRequest } from '../../docs-site/client/reference/request.ts';
import { languages } from '../../docs-site/client/reference/samples.ts';
import { startGateway } from '../support/gateway.ts';
import { assertPrints, runModules, runSample } from '../support/guide-samples.ts';
import fc from '../support/property.ts';
import { readMainSamples, readSamples } from '../support/reference-samples.ts';

const gateway = await startGateway({ test_mode: { enabled: true } });
after(() => gateway.stop());

test('every call has code, except the one that opens a WebSocket', async () => {
  const api = (await gateway.get('/openapi.json')).json<ApiDocument>();
  const without = callsOf(api).filter((call) => exampleRequest(api, call, '') === null);
  assert.deepEqual(
    without.map(({ operationId }) => operationId),
    ['openResponses'],
  );
  assert.equal((await readSamples(gateway, 'curl')).length, callsOf(api).length - 1);
});

test('every sample in curl can be read by a shell', async () => {
  const own = await readSamples(gateway, 'curl');
  const functions = own.map(({ id, code }) => `${id}() {\n${code}\n}`).join('\n');
  // The user's own shell may define functions, too.
  const defined = execFileSync('bash', ['--norc', '-c', `${functions}\ndeclare -F`], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  const expected = own.map(({ id }) => `declare -f ${id}`);
  assert.deepEqual(defined.trim().split('\n').toSorted(), expected.toSorted());
});

test('every sample in TypeScript can be read by Node', async () => {
  for (const { id, code } of await readSamples(gateway, 'typescript'))
    assert.doesNotThrow(() => readTypeScript(code), `${id}\n${code}`);
});

/** Without imports, a module is the body of an asynchronous function. */
function readTypeScript(code: string): vm.Script {
  return new vm.Script(`async () => {\n${stripTypeScriptTypes(code)}\n}`);
}

test('the main samples in curl run with a test key', { concurrency: 2 }, async (context) => {
  const inBash = (code: string) => ({ program: 'bash', args: ['-c', code] });
  await Promise.all(
    (await readMainSamples(gateway, 'curl')).map((sample) =>
      context.test(sample.place, () => runSample(gateway, sample, inBash)),
    ),
  );
});

test('the main samples in typescript run with a test key', async (context) => {
  const own = await readMainSamples(gateway, 'typescript');
  const printed = await runModules(gateway, own);
  for (const [index, sample] of own.entries())
    await context.test(sample.place, () => assertPrints(printed[index]!, sample));
});

const anyRequest: fc.Arbitrary<SampleRequest> = fc.record({
  method: fc.constantFrom('POST', 'PATCH'),
  url: fc.constant('http://127.0.0.1:4000/v1/responses'),
  key: fc.constantFrom(null, { variable: 'TOLLGATE_KEY', shown: "it's" }),
  headers: fc
    .uniqueArray(fc.tuple(fc.stringMatching(/^[A-Za-z-]{1,9}$/), fc.string()), {
      maxLength: 3,
      selector: ([name]) => name.toLowerCase(),
    })
    .map((headers) => Object.fromEntries(headers)),
  body: fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.jsonValue().map((value) => JSON.stringify(value)),
  ),
});

test('whatever a reader types, the code says the same', async () => {
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      let sent: { readonly url: string; readonly options: RequestInit } | null = null;
      const fetch = (url: string, options: RequestInit) => {
        sent = { url, options };
        return Promise.resolve(new Response('ok'));
      };
      const globals = { fetch, process: { env: {} }, console: { log: () => {} }, JSON };
      const code = languages.typescript
        .write(request)
        .replaceAll(/^for await.*$|^const text.*$/gm, '');
      await (vm.runInNewContext(`(${readTypeScriptText(code)})()`, globals) as Promise<void>);
      const { body, headers } = sent!.options;
      const typed = request.body!;
      if (isJson(typed)) assert.deepEqual(JSON.parse(body as string), JSON.parse(typed));
      else assert.equal(body, typed);
      for (const [name, value] of Object.entries(request.headers))
        assert.equal((headers as Record<string, string>)[name.toLowerCase()], value);
    }),
    {
      numRuns: 200,
      examples: [
        [{ method: 'POST', url: '', key: null, headers: {}, body: '{"a":{"__proto__":{"b":1}}}' }],
      ],
    },
  );
});

test('whatever a reader types, a shell sends the same', async () => {
  const run = promisify(execFile);
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      fc.pre(!JSON.stringify(request).includes(String.raw`\u0000`));
      const code = languages.curl.write(request).replace(/^curl/, "printf '%s\\0'");
      const { stdout } = await run('bash', ['-c', code]);
      const words = stdout.split('\0');
      assert.deepEqual(words.slice(-3, -1), [
        request.body!.startsWith('@') ? '--data-raw' : '-d',
        request.body,
      ]);
    }),
    { numRuns: 60 },
  );
});

function readTypeScriptText(code: string): string {
  return `async () => {\n${stripTypeScriptTypes(code)}\n}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
