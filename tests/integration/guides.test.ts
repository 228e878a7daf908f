// The samples of the guides in curl and JavaScript do what the guides say. The group `guides` of
// `npm run test:all` has the other languages.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  assertPrints,
  guideTexts,
  runSample,
  samples,
  samplesIn,
  type SampleCommand,
} from '../support/guide-samples.ts';

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ test_mode: { enabled: true } });
});
after(() => gateway.stop());

const commands: Readonly<Record<'sh' | 'js', (code: string) => SampleCommand>> = {
  sh: (code) => ({ program: 'bash', args: ['-c', code] }),
  // From its standard input, Node finds the packages of the working directory.
  js: (code) => ({ program: process.execPath, args: ['--input-type=module', '-'], code }),
};

for (const [language, commandOf] of Object.entries(commands)) {
  test(`samples in ${language} print what the guides say`, { concurrency: 2 }, async (context) => {
    const own = samples.filter((sample) => sample.language === language);
    assert.ok(own.length > 5, `only ${own.length} samples were found`);
    await Promise.all(
      own.map((sample) => context.test(sample.place, () => runSample(gateway, sample, commandOf))),
    );
  });
}

test('settings in JSON and YAML can be read', () => {
  const blocks = guideTexts.flatMap(([name, text]) =>
    [...text.matchAll(/^```(json|yaml)\n([^]*?)^```$/gm)].map(([, language, block]) => ({
      name,
      language,
      block: block!,
    })),
  );
  // Other blocks show a part of an answer.
  const whole = blocks.filter(
    ({ language, block }) => language === 'yaml' || block.startsWith('{'),
  );
  assert.ok(whole.length >= 4);
  for (const { name, block } of whole)
    assert.equal(typeof parse(block), 'object', `a block in ${name} cannot be read`);
});

/** Checks the checks: they must be able to fail. */
test('a sample without its output, and a sample that prints something else, fail', () => {
  assert.throws(() => samplesIn('x.md', '```sh run\necho 1\n```\n'), /x\.md, line 1/);
  const [sample] = samplesIn('x.md', 'a\n\n```sh run\ne\n```\n\n```text output\none…three\n```\n');
  assertPrints('One, two, three', sample!);
  assert.throws(() => assertPrints('three, one', sample!), /x\.md, line 3 does not print “three”/);
});
