// The systemd unit, checked by systemd's own program.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { root } from '../../support/built-program.ts';
import { programEnv as env, skipWithout } from '../../support/programs.ts';

const unit = join(root, 'deploy', 'systemd', 'tollgate.service');
const text = readFileSync(unit, 'utf8');
const skip = skipWithout('systemd-analyze');
/** From 0, safe, to 10. `systemd-analyze` counts in tenths here. */
const exposureMaxTenths = 15;

test('systemd understands every line of the unit', { skip }, (t) => {
  const { status, output } = verify(t, text);
  assert.deepEqual([status, output], [0, '']);
});

test('a misspelt setting in the unit would be noticed', { skip }, (t) => {
  const { output } = verify(t, text.replace('ProtectSystem=', 'ProtectSytem='));
  assert.match(output, /Unknown key.*'ProtectSytem'/);
});

test('the unit leaves the gateway few rights', { skip }, () => {
  const { status, stdout } = spawnSync(
    'systemd-analyze',
    ['security', '--offline=true', `--threshold=${exposureMaxTenths}`, unit],
    { env, encoding: 'utf8' },
  );
  assert.equal(status, 0, stdout);
});

test('the unit waits longer than open requests may take when it stops', () => {
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(text) ?? [];
  const schema = JSON.parse(readFileSync(join(root, 'docs', 'config.schema.json'), 'utf8')) as {
    properties: { server: { properties: { shutdown_timeout_ms: { default: number } } } };
  };
  const { default: drainMs } = schema.properties.server.properties.shutdown_timeout_ms;
  // Ten seconds after the drain, a gateway has ended in any case.
  assert.ok(Number(seconds) > drainMs / 1000 + 10, `${seconds} s for ${drainMs} ms`);
});

/** Checks a unit whose program is on this machine. */
function verify(t: TestContext, content: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-unit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'tollgate.service');
  assert.ok(content.includes('/opt/tollgate/bin/tollgate '));
  writeFileSync(path, content.replace('/opt/tollgate/bin/tollgate ', `${process.execPath} `));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], {
    env,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}
