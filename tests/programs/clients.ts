// How a test runs each client against one started gateway: a model on each upstream format, and the
// clients' settings. They come from docs/guides, so that the documented settings are proven to work.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { installPython } from '../support/python.ts';
import type { Script } from '../support/upstream.ts';
import {
  makeWorkspace,
  runCommand,
  runProgram,
  type ProgramResult,
  type Workspace,
} from './command.ts';
import { playTask, playTurns } from './play.ts';
import { hostProviders, type Framing } from '../support/model-hosts.ts';
import type { ToolCall, Wire } from './turns.ts';

/** What a task's answers name: `copy` is a file that the client is to make of the note. */
type Place = { readonly work: string; readonly copy: string; readonly marker: string };

export type Scenario = {
  readonly model: string;
  /** The wire format of the model's provider. */
  readonly wire: Wire;
  /** Reads `note.txt`. */
  readonly call: ToolCall;
  /** The program returns no signed reasoning; left out: it does. */
  readonly dropsReasoning?: boolean;
};

const claudeId = 'anthropic.claude-haiku-4-5';

export const paths = {
  responses: '/v1/responses',
  messages: '/v1/messages',
  chat: '/local/v1/chat/completions',
  gemini: '/v1beta/models/upstream:streamGenerateContent',
  converse: `/bedrock/model/${claudeId}/converse-stream`,
  invoke: `/bedrock/model/${claudeId}/invoke-with-response-stream`,
  vertex: `/vertex/v1/projects/my-project/locations/global/publishers/anthropic/models/${claudeId}:streamRawPredict`,
  azure: '/azure/openai/v1/responses',
  /** Claude on Azure. */
  foundry: '/azure/anthropic/v1/messages',
};
/** Each format at its vendor, and the clouds. */
export type UpstreamName = keyof typeof paths;
export const upstreamNames = Object.keys(paths) as readonly UpstreamName[];

function wireOf(name: UpstreamName): Wire {
  if (name === 'azure') return 'responses';
  return name === 'invoke' || name === 'vertex' || name === 'foundry' ? 'messages' : name;
}

function framingOf(name: UpstreamName): Framing {
  return name === 'converse' || name === 'invoke' ? name : 'sse';
}

const prices = { input: 1, output: 2, cache_write: 1, cache_read: 1 };
const limits = {
  max_input_tokens: 200_000,
  max_output_tokens: 32_000,
  supports: { thinking: true, streaming: true, vision: true },
};
const model = (provider: string, route: object = {}) => ({
  display_name: provider,
  owned_by: provider,
  routes: [{ provider, model: 'upstream', ...route }],
  ...limits,
  prices,
});

/** A test file that uses it must stop it. */
export const gateway = await startGateway((upstream) => ({
  providers: hostProviders(upstream.url, { api_key: 'none' }),
  models: {
    'responses-model': model('openai', { api: 'responses' }),
    'messages-model': model('anthropic'),
    'chat-model': model('local'),
    'gemini-model': model('google'),
    'converse-model': model('bedrock', { model: claudeId, api: 'converse' }),
    'invoke-model': model('bedrock', { model: claudeId }),
    'vertex-model': model('vertex', { model: claudeId }),
    // Codex sends a web search with every request, which has no price there and is left out.
    'azure-model': model('azure', { api: 'responses' }),
    'foundry-model': model('azure', { model: claudeId }),
    // Codex knows these two models and gives them tools of other kinds.
    'gpt-6-sol': model('anthropic'),
    'gpt-6.1-terra': model('openai'),
  },
}));
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 100 });

/** `marker`: what the note says. */
type Run = (workspace: Workspace, model: string, marker: string) => Promise<ProgramResult>;

/** A task of one tool. */
export function runScenario(t: TestContext, scenario: Scenario, run: Run): Promise<void> {
  const { model: name, wire } = scenario;
  const play = ({ marker }: Place) => playTask(wire, { ...scenario, marker });
  return finishTask(t, { name, upstream: wire, run, play, makesCopy: false });
}

/** A task of two tools on a model of this upstream. */
export function runClient(t: TestContext, client: Client, upstream: UpstreamName): Promise<void> {
  const play = (place: Place) => client.play(wireOf(upstream), place, framingOf(upstream));
  const trial = { name: `${upstream}-model`, upstream, run: client.run, play, makesCopy: true };
  const attempt = () => finishTask(t, trial);
  return client.mayHalt ? attempt().catch(attempt) : attempt();
}

type Trial = {
  readonly name: string;
  readonly upstream: UpstreamName;
  readonly run: Run;
  readonly play: (place: Place) => Script;
  readonly makesCopy: boolean;
};

async function finishTask(
  t: TestContext,
  { name, upstream, run, play, makesCopy }: Trial,
): Promise<void> {
  const marker = `note-${randomBytes(8).toString('hex')}`;
  const workspace = makeWorkspace(t, marker);
  const { work } = workspace;
  const copy = `copy-${randomBytes(4).toString('hex')}.txt`;
  const sent = gateway.upstream.requests.length;
  gateway.upstream.on(paths[upstream], play({ work, copy, marker }));
  const result = await run(workspace, name, marker);
  const output = `${result.stdout}\n${result.stderr}`.slice(-4_000);
  assert.equal(result.code, 0, output);
  assert.ok(result.stdout.includes(`The note says: ${marker}`), output);
  if (makesCopy) assert.ok(readFileSync(join(work, copy), 'utf8').includes(marker), output);
  const asked = gateway.upstream.requests.slice(sent).map((request) => request.path);
  assert.deepEqual([...new Set(asked)], [paths[upstream]], 'no other path was requested');
  assert.ok(asked.length >= 2, 'a result came back');
}

const task = 'Read note.txt in this folder, make a copy of it, and tell me what it says.';

export function runCodex(workspace: Workspace, name: string): Promise<ProgramResult> {
  return runCodexWith(workspace, codexConfig(name));
}

export async function runCodexWith(workspace: Workspace, config: string): Promise<ProgramResult> {
  const codexHome = join(workspace.root, 'codex');
  mkdirSync(codexHome);
  writeFileSync(join(codexHome, 'config.toml'), config);
  // The program's own sandbox needs privileges that a container may not have.
  const args = [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    task,
  ];
  return runProgram('codex', {
    workspace,
    args,
    // Its own provider reads the key from the second variable.
    env: { CODEX_HOME: codexHome, TOLLGATE_KEY: key, CODEX_API_KEY: key },
  });
}

/** The settings of docs/guides/codex.md for this gateway and model. */
export function codexConfig(name: string): string {
  return readGuide('codex', /```toml\n([\s\S]*?)```/).replace(/^model = .*$/m, `model = "${name}"`);
}

function runClaudeTask(workspace: Workspace, name: string): Promise<ProgramResult> {
  return runClaude(workspace, {
    name,
    args: ['-p', task, '--allowedTools', 'Bash', 'Write'],
    token: key,
  });
}

type ClaudeRun = {
  readonly name: string;
  readonly args: readonly string[];
  readonly token: string;
};

export async function runClaude(
  workspace: Workspace,
  { name, args, token }: ClaudeRun,
): Promise<ProgramResult> {
  const env = { ...claudeSettings(name, token), CLAUDE_CONFIG_DIR: join(workspace.root, 'claude') };
  return runProgram('claude', { workspace, args, env });
}

function claudeSettings(name: string, token: string): Record<string, string> {
  return exportedIn('claude-code', { 'gpt-6-luna': name, $TOLLGATE_KEY: token });
}

/** The variables that the guide sets before it starts the program; `values` replace some values. */
function exportedIn(guide: string, values: Readonly<Record<string, string>>) {
  const lines = readGuide(guide, /```sh\n((?:export \w+=.*\n)+)(?!export)\w/);
  return Object.fromEntries(
    [...lines.matchAll(/^export (\w+)=(.*)$/gm)].map(([, variable = '', value = '']) => [
      variable,
      values[value] ?? value,
    ]),
  );
}

/** Without the lists, updates and language servers that it loads from the network. */
const opencodeOffline = {
  OPENCODE_DISABLE_MODELS_FETCH: 'true',
  OPENCODE_DISABLE_AUTOUPDATE: 'true',
  OPENCODE_DISABLE_LSP_DOWNLOAD: 'true',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: 'true',
};

function runOpencode(workspace: Workspace, name: string): Promise<ProgramResult> {
  // The settings of docs/guides/opencode.md, with every model under one of its names.
  const settings = readGuide('opencode', /```json\n([\s\S]*?)```/)
    .replaceAll('gpt-6-luna', name)
    .replaceAll('claude-haiku-4-5', name);
  writeFileSync(join(workspace.work, 'opencode.json'), settings);
  const env = { ...opencodeOffline, TOLLGATE_KEY: key };
  return runProgram('opencode', { workspace, args: ['run', task], env });
}

function runGemini(workspace: Workspace, name: string): Promise<ProgramResult> {
  const folder = join(workspace.home, '.gemini');
  mkdirSync(folder);
  const settings = JSON.parse(readGuide('google-sdk', /```json\n([\s\S]*?)```/)) as object;
  writeFileSync(join(folder, 'settings.json'), JSON.stringify({ ...settings, ...geminiOffline }));
  const env = exportedIn('google-sdk', { $TOLLGATE_KEY: key });
  const args = ['--model', name, '--skip-trust', '--approval-mode', 'yolo', '--prompt', task];
  return runProgram('gemini', { workspace, args, env });
}

const geminiOffline = {
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false },
  telemetry: { enabled: false },
};

/** Without the statistics and updates that it sends and loads. */
const qwenOffline = {
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false },
  telemetry: { enabled: false },
};

function runQwen(workspace: Workspace, name: string): Promise<ProgramResult> {
  const folder = join(workspace.home, '.qwen');
  mkdirSync(folder);
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(qwenOffline));
  const env = exportedIn('qwen-code', { 'claude-haiku-4-5': name, $TOLLGATE_KEY: key });
  const args = ['--auth-type', 'openai', '--approval-mode', 'yolo', task];
  return runProgram('qwen', { workspace, args, env });
}

async function runCline(workspace: Workspace, name: string): Promise<ProgramResult> {
  // The command of docs/guides/cline.md.
  const signIn = readGuide('cline', /```sh\ncline (auth .*)\n/)
    .replace('claude-haiku-4-5', name)
    .replace('YOUR_KEY', key)
    .split(' ');
  const env = { CLINE_NO_AUTO_UPDATE: '1', DO_NOT_TRACK: '1' };
  const result = await runProgram('cline', { workspace, args: signIn, env });
  return result.code === 0 ? runProgram('cline', { workspace, args: [task], env }) : result;
}

function runContinue(workspace: Workspace, name: string): Promise<ProgramResult> {
  // The settings of docs/guides/continue.md.
  const config = join(workspace.root, 'config.yaml');
  const settings = readGuide('continue', /```yaml\n([\s\S]*?)```/)
    .replaceAll('claude-haiku-4-5', name)
    .replaceAll('YOUR_KEY', key);
  writeFileSync(config, settings);
  const args = ['-p', '--config', config, '--auto', task];
  return runProgram('continue', {
    workspace,
    args,
    env: { CONTINUE_METRICS_ENABLED: '0', CONTINUE_CLI_ENABLE_TELEMETRY: '0' },
  });
}

/** What the check of aider's edits prints, which aider sends to the model. */
const complaint = 'It has no second line.';

async function runAider(workspace: Workspace, name: string): Promise<ProgramResult> {
  // Without the price lists that it and LiteLLM load.
  const caches = join(workspace.home, '.aider', 'caches');
  mkdirSync(caches, { recursive: true });
  writeFileSync(join(caches, 'model_prices_and_context_window.json'), '{}');
  const env = {
    ...exportedIn('aider', { $TOLLGATE_KEY: key }),
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  };
  const check = `grep -q second copy-*.txt || { echo "${complaint}"; exit 1; }`;
  const options = ['--no-git', '--yes-always', '--no-check-update', '--analytics-disable'];
  const outputs = ['--no-show-model-warnings', '--no-show-release-notes', '--no-pretty'];
  const tests = ['--auto-test', '--test-cmd', check];
  const args = [...options, ...outputs, ...tests, '--no-fancy-input', '--file', 'note.txt'];
  const folder = installPython(join(import.meta.dirname, 'requirements.txt'));
  args.push('--model', `openai/${name}`, '--message', task);
  return runCommand([join(folder, 'bin', 'aider')], { workspace, args, env });
}

function readGuide(name: string, block: RegExp): string {
  const path = join(import.meta.dirname, '..', '..', 'docs', 'guides', `${name}.md`);
  const found = block.exec(readFileSync(path, 'utf8'))?.[1];
  assert.ok(found, `docs/guides/${name}.md has no block ${String(block)}`);
  return found.replaceAll('http://127.0.0.1:4000', gateway.url);
}

export type Client = {
  readonly title: string;
  readonly play: (wire: Wire, place: Place, framing: Framing) => Script;
  readonly run: Run;
  /** It sometimes halts itself, because it takes a side request's call for a repetition. */
  readonly mayHalt?: boolean;
};

/** `drops`: the upstream formats whose reasoning the client does not send back. */
function withTools(
  call: ToolCall,
  second: (place: Place) => ToolCall,
  drops: readonly Wire[] = [],
): Client['play'] {
  return (wire, place, framing) => {
    const next = { call: second(place), marker: place.copy };
    const dropsReasoning = drops.includes(wire);
    return playTask(wire, { call, marker: place.marker, second: next, dropsReasoning }, framing);
  };
}

/** aider knows no tools: it takes files from an answer's text, and runs a check of its own. */
function withEdits(wire: Wire, { copy, marker }: Place, framing: Framing): Script {
  const listing = (said: string, content: string) => ({
    text: `${said}\n\n${copy}\n\`\`\`\n${content}\n\`\`\`\n`,
  });
  const answer = (body: string) =>
    body.includes(complaint)
      ? listing(`The note says: ${marker}`, `${marker}\nThe second line.`)
      : listing('I copy it.', marker);
  return playTurns(wire, answer, framing);
}

export const clients = {
  claude: {
    title: 'Claude Code',
    play: withTools(
      { name: 'Bash', input: { command: 'cat note.txt', description: 'Read the note' } },
      ({ work, copy, marker }) => ({
        name: 'Write',
        input: { file_path: join(work, copy), content: marker },
      }),
    ),
    run: runClaudeTask,
  },
  codex: {
    title: 'Codex',
    play: withTools({ name: 'exec_command', input: { cmd: 'cat note.txt' } }, ({ copy }) => ({
      name: 'exec_command',
      input: { cmd: `cp note.txt ${copy}` },
    })),
    run: runCodex,
  },
  opencode: {
    title: 'opencode',
    play: withTools({ name: 'read', input: { filePath: 'note.txt' } }, ({ copy }) => ({
      name: 'bash',
      input: { command: `cp note.txt ${copy}`, description: 'Copy the note' },
    })),
    run: runOpencode,
  },
  gemini: {
    title: 'Gemini CLI',
    play: withTools(
      { name: 'run_shell_command', input: { command: 'cat note.txt' } },
      ({ work, copy, marker }) => ({
        name: 'write_file',
        input: { file_path: join(work, copy), content: marker },
      }),
    ),
    run: runGemini,
  },
  qwen: {
    title: 'Qwen Code',
    play: withTools(
      { name: 'run_shell_command', input: { command: 'cat note.txt', is_background: false } },
      ({ work, copy, marker }) => ({
        name: 'write_file',
        input: { file_path: join(work, copy), content: marker },
      }),
      ['messages', 'converse', 'gemini', 'responses'],
    ),
    run: runQwen,
    mayHalt: true,
  },
  aider: { title: 'aider', play: withEdits, run: runAider },
  cline: {
    title: 'Cline',
    play: withTools(
      { name: 'run_commands', input: { commands: ['cat note.txt'] } },
      ({ work, copy, marker }) => ({
        name: 'editor',
        input: { path: join(work, copy), new_text: marker },
      }),
      ['messages', 'converse', 'gemini', 'responses'],
    ),
    run: runCline,
  },
  continue: {
    title: 'Continue',
    play: withTools(
      { name: 'Read', input: { filepath: 'note.txt' } },
      ({ copy, marker }) => ({ name: 'Write', input: { filepath: copy, content: marker } }),
      ['messages', 'converse', 'responses', 'chat'],
    ),
    run: runContinue,
  },
} as const satisfies Readonly<Record<string, Client>>;
