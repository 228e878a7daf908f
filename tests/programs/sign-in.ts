// The real Claude Code signs in at the gateway by `/login`, in a terminal, and works with the key that
// a user of the dashboard gave it.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { signIn } from '../support/dashboard.ts';
import { startGateway } from '../support/gateway.ts';
import { commandOf, makeWorkspace, runProgram } from './command.ts';
import { turnFrames } from './turns.ts';
import { answerSse } from '../support/upstream.ts';

const up = '\u001B[A';
const enter = '\r';
/** What the terminal shows, without spaces, and the keys that go on. */
const steps: readonly (readonly [shown: RegExp, keys: readonly string[]])[] = [
  [/textstyle/, [enter]],
  [/Entertoconnect/, [enter]],
  [/trustthisgateway/, [up, enter]],
  [/[B-Z]{4}-[B-Z]{4}/, []],
  [/Signedinto/, [up, enter]],
];

test(
  'Claude Code signs in by /login, works with the key that a user confirmed, and ends it by /logout',
  { skip: spawnSync('script', ['--version']).error ? 'needs `script` of util-linux' : false },
  async (t) => {
    const gateway = await startGateway({});
    t.after(() => gateway.stop());
    const owner = await signIn(gateway, { role: 'owner' });
    const workspace = makeWorkspace(t, 'nothing');
    const folder = join(workspace.root, 'claude');
    mkdirSync(folder);
    const settings = { forceLoginMethod: 'gateway', forceLoginGatewayUrl: gateway.url };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    const env = { CLAUDE_CONFIG_DIR: folder, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };

    const terminal = spawn('script', ['-qfec', commandOf('claude').join(' '), '/dev/null'], {
      cwd: workspace.work,
      env: {
        PATH: process.env['PATH'],
        HOME: workspace.home,
        TMPDIR: workspace.root,
        TERM: 'xterm',
        // It must not open a browser of this machine.
        BROWSER: 'true',
        ...env,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    const end = () => process.kill(-terminal.pid!, 'SIGKILL');
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (piece: string) => (shown += piece));
    // oxlint-disable-next-line no-control-regex -- the terminal's own sequences
    const text = () => shown.replaceAll(/\u001B\[[\d;?]*[a-zA-Z]|\s/g, '');
    try {
      for (const [pattern, keys] of steps) {
        const found = await waitFor(() => pattern.exec(text())?.[0], text);
        shown = '';
        if (keys.length === 0)
          assert.equal(
            (await owner.post(devicePath(owner.account), confirmation(found))).status,
            200,
          );
        for (const key of keys) {
          // It reads keys that come together as pasted text.
          await setTimeout(500);
          terminal.stdin.write(key);
        }
      }
      await waitFor(
        () => (/successful|Pressenter|Securitynotes/i.test(text()) ? 'yes' : undefined),
        text,
      );
    } finally {
      end();
    }

    gateway.upstream.on('/v1/messages', answerSse(turnFrames('messages', { text: 'I am here.' })));
    const { account } = owner;
    await gateway.creditAccount(account, 5);
    const args = ['-p', 'Are you there?', '--model', 'claude-haiku-4-5'];
    const result = await runProgram('claude', { workspace, args, env });
    assert.match(result.stdout, /I am here\./, result.stdout + result.stderr);
    const keys = await owner.get(`/accounts/${account}/keys?mode=live`);
    const [made] = keys.json<{ data: { name: string; last_used_at: string | null }[] }>().data;
    assert.equal(made?.name, 'Laptop');
    await runProgram('claude', { workspace, args: ['auth', 'logout'], env });
    const after = await owner.get(`/accounts/${account}/keys?mode=live`);
    const [ended] = after.json<{ data: { state: string }[] }>().data;
    assert.equal(ended?.state, 'revoked');
  },
);

const devicePath = (account: string) => `/accounts/${account}/device-logins`;
const confirmation = (code: string) => ({ user_code: code, name: 'Laptop' });

async function waitFor(find: () => string | undefined, text: () => string): Promise<string> {
  for (let tries = 0; tries < 240; tries++) {
    const found = find();
    if (found !== undefined) return found;
    await setTimeout(250);
  }
  throw new assert.AssertionError({ message: `the terminal shows: ${text().slice(-2_000)}` });
}
