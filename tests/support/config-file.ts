// Configurations as an operator writes them: the text of a file, and variables of the environment.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/config-error.ts';
import type { Environment } from '../../src/config/field-values.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';

/** `yaml`: the file; null: there is none. */
export function loadYaml(yaml: string | null, env: Environment = {}): Config {
  const cwd = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
  try {
    if (yaml !== null) writeFileSync(join(cwd, 'tollgate.yaml'), yaml);
    return loadConfig({ env, cwd });
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** Returns why a file is refused. */
export function faultOf(yaml: string, env: Environment = {}): ConfigError {
  try {
    loadYaml(yaml, env);
  } catch (error) {
    assert(error instanceof ConfigError, String(error));
    return error;
  }
  return assert.fail(`accepted: ${yaml}`);
}

/** Tests that files are refused, each with a message that begins with its line and column. */
export function testFaults(
  faults: Readonly<Record<string, RegExp>>,
  load: (yaml: string) => unknown,
): void {
  for (const [yaml, message] of Object.entries(faults)) {
    test(`refused: ${JSON.stringify(yaml)}`, () => {
      assert.throws(
        () => load(yaml),
        (error) => {
          assert.ok(error instanceof ConfigError, String(error));
          assert.match(error.message.replace(/^.*?tollgate\.yaml:/, ''), message);
          return true;
        },
      );
    });
  }
}
