// A newcomer's first minute: `npm start`, the printed key, the printed curl line, SIGTERM.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { send } from '../support/http.ts';

const root = join(import.meta.dirname, '..', '..');
const dataDir = join(mkdtempSync(join(tmpdir(), 'tollgate-smoke-')), 'data');
const started: ChildProcess[] = [];

after(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(join(dataDir, '..'), { recursive: true, force: true });
});

test(
  'npm start gives a newcomer a working key and curl line, and SIGTERM to npm ends the server',
  { timeout: 120_000 },
  async (t) => {
    const first = await npmStart();
    assert.doesNotMatch(first.output(), /error/i);

    await t.test('the printed curl line gets an answer', async () => {
      const command = /^curl .+$/m.exec(first.output())?.[0];
      assert.ok(command, `no curl line in:\n${first.output()}`);
      const answer = JSON.parse(await runShellLine(command)) as {
        object: string;
        choices: { message: { content: string } }[];
      };
      assert.equal(answer.object, 'chat.completion');
      assert.match(answer.choices[0]!.message.content, /Hello!/);
    });

    await t.test('the printed key is a test key with play money', async () => {
      const key = /tg_test_[0-9A-Za-z]{38}/.exec(first.output())?.[0];
      const balance = await send(`${first.url}/v1/balance`, { key });
      assert.equal(balance.status, 200);
      assert.equal(
        balance.json<{ balance_cents: number }>().balance_cents,
        99_999,
        '$1 000 less the answer above',
      );
    });

    await t.test('the secret in the data folder is readable only by its owner', () => {
      assert.equal(statSync(join(dataDir, 'secret')).mode & 0o777, 0o600);
    });

    await t.test('SIGTERM to npm ends the server: no orphan keeps the port', async () => {
      assert.equal(await first.terminate(), 0);
      await assert.rejects(send(`${first.url}/healthz`), { code: 'ECONNREFUSED' });
    });

    await t.test('a second start says how to create a key and prints none', async () => {
      const second = await npmStart();
      assert.match(second.output(), /npx tollgate keys create --account acc_\w+ --mode test/);
      assert.doesNotMatch(second.output(), /tg_(?:test|live)_/);
      assert.equal(await second.terminate(), 0);
    });
  },
);

type Started = {
  readonly url: string;
  readonly output: () => string;
  readonly terminate: () => Promise<number | null>;
};

function npmStart(): Promise<Started> {
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  let output = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const url = /listens on (http:\S+)/.exec(output)?.[1];
      // The welcome is printed in one write; the line about test keys is its last.
      if (url && output.includes('sandbox')) resolve({ url, output: () => output, terminate });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then((code) => reject(new Error(`npm start ended with ${code}:\n${output}`)));
  });

  function terminate(): Promise<number | null> {
    child.kill('SIGTERM');
    return ended;
  }
}

/** A user's environment without settings that would change the test. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return { PATH, HOME, TMPDIR, LANG, PORT: '0', TOLLGATE_DATA_DIR: dataDir };
}

/** Runs the curl line in a shell. Without curl, sends the same request. */
async function runShellLine(command: string): Promise<string> {
  try {
    return (await promisify(execFile)('sh', ['-c', `${command} --silent --show-error --fail`]))
      .stdout;
  } catch (error) {
    if ((error as { code?: number }).code !== 127) throw error;
  }
  const [, url, authorization, body] =
    /^curl (\S+) -H "Authorization: ([^"]+)" .* -d '([^']+)'$/.exec(command) ?? [];
  assert.ok(url && authorization && body, `not understood: ${command}`);
  return (await send(url, { body, headers: { authorization } })).text;
}
