import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { curlCommand } from './curl.ts';

/** Runs the command with a curl that prints its arguments, and its input for a body that is long. */
function run(body: string): string {
  const command = curlCommand({ baseUrl: 'https://x.test', path: '/v1/y', isStream: true, body });
  const curl = `curl() { for last; do :; done; if [ "$last" = @- ]; then cat; else printf %s "$last"; fi; }`;
  return execFileSync('bash', { input: `${curl}\n${command}\n` }).toString();
}

test('any body reaches curl unchanged, whatever a shell would make of it', () => {
  for (const body of ['it\'s $HOME `id` \\ "!"', '@/etc/passwd', "''\n'", '{"a":"ü"}'])
    assert.equal(run(body), body);
});

test('a body longer than one argument may be is passed as input', () => {
  const body = JSON.stringify({ text: "it's $HOME".repeat(20_000) });
  assert.equal(run(body), body);
  const long = `${'x'.repeat(200_000)}'\nJSON\necho "$(id)"\n`;
  assert.equal(run(long), long);
});
