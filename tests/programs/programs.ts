// Runs the real Codex, Claude Code, opencode and Qwen Code, offline, against the started gateway: each reads a file with
// a tool and reports its content, on models of its own vendor's format and of every other. Their
// settings come from docs/guides, so that the documented settings are proven to work.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { answerJson, answerSse } from '../support/upstream.ts';
import { makeWorkspace, runProgram, type ProgramResult, type Workspace } from './command.ts';
import { playTask } from './play.ts';
import { turnFrames, type ToolCall, type Turn, type Wire } from './turns.ts';

type Scenario = {
  readonly model: string;
  /** The wire format of the model's provider. */
  readonly wire: Wire;
  readonly call: ToolCall;
  /** The program returns no signed reasoning; left out: it does. */
  readonly dropsReasoning?: boolean;
};

const paths: Readonly<Record<Wire, string>> = {
  responses: '/v1/responses',
  messages: '/v1/messages',
  chat: '/local/v1/chat/completions',
  gemini: '/v1beta/models/upstream:streamGenerateContent',
};
const countPath = '/v1/messages/count_tokens';

const prices = { input: 1, output: 2, cache_write: 1, cache_read: 1 };
const limits = {
  max_input_tokens: 200_000,
  max_output_tokens: 32_000,
  supports: { thinking: true, streaming: true, vision: true },
};
const model = (provider: string) => ({
  display_name: provider,
  owned_by: provider,
  routes: [{ provider, model: 'upstream' }],
  ...limits,
  prices,
});

let gateway: TestGateway;
let key: string;

before(async () => {
  gateway = await startGateway((upstream) => ({
    providers: { google: { kind: 'google', base_url: upstream.url, api_key: 'none' } },
    models: {
      'chat-model': model('local'),
      'gemini-model': model('google'),
      // Codex knows these two models and gives them tools of other kinds.
      'gpt-6-sol': model('anthropic'),
      'gpt-6.1-terra': model('openai'),
    },
  }));
  ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 100 }));
});
after(() => gateway.stop());

const readWithCodex = { name: 'exec_command', input: { cmd: 'cat note.txt' } };
const script =
  'const read = await tools.exec_command({ cmd: "cat note.txt" });\ntext(read.output ?? read);';

const codexScenarios: readonly Scenario[] = [
  {
    model: 'gpt-6-luna',
    wire: 'responses',
    call: { name: 'exec', namespace: 'functions', input: script },
  },
  { model: 'claude-haiku-4-5', wire: 'messages', call: readWithCodex },
  { model: 'chat-model', wire: 'chat', call: readWithCodex },
  { model: 'gemini-model', wire: 'gemini', call: readWithCodex },
  {
    model: 'gpt-6.1-terra',
    wire: 'responses',
    call: { name: 'exec', namespace: 'functions', input: script },
  },
  {
    model: 'gpt-6-sol',
    wire: 'messages',
    call: { name: 'functions__exec', input: { input: script } },
  },
];

for (const scenario of codexScenarios) {
  test(`Codex finishes a task with ${scenario.model}, whose provider speaks ${scenario.wire}`, async (t) => {
    await runScenario(t, scenario, runCodex);
  });
}

/** With these, Codex opens a WebSocket. */
const codexSocketConfigs: Readonly<Record<string, (name: string) => string>> = {
  'a provider that supports WebSockets': (name) =>
    `${codexConfig(name)}supports_websockets = true\n`,
  'its own provider at another address': codexOwnConfig,
};

for (const [what, config] of Object.entries(codexSocketConfigs))
  for (const scenario of codexScenarios.slice(0, 2))
    test(`Codex, set to ${what}, finishes a task with ${scenario.model} over a WebSocket`, async (t) => {
      const logged = gateway.program.output.length;
      await runScenario(t, scenario, (workspace, name) => runCodexWith(workspace, config(name)));
      // The log comes a moment after the answer. The first request is a warm-up.
      await until(() => requestsSince(logged).length >= 4);
      assert.deepEqual(requestsSince(logged), ['GET 101', 'POST 200', 'POST 200', 'POST 200']);
    });

test('Codex compacts a conversation with a Claude model over a WebSocket, and goes on', async (t) => {
  const scenario = { ...codexScenarios[1]!, dropsReasoning: true };
  const path = paths[scenario.wire];
  const sent = gateway.upstream.requests.length;
  const logged = gateway.program.output.length;
  // Each turn of the task reports 120 tokens.
  const config = `model_auto_compact_token_limit = 110\n${codexOwnConfig(scenario.model)}`;
  const summaries = () =>
    gateway.upstream.requests.slice(sent).filter(({ text }) => text.includes('Write a summary'));
  await runScenario(t, scenario, (workspace, _name, marker) => {
    const turn: Turn = { text: `The file was read. It says ${marker}.` };
    const task = playTask(scenario.wire, { ...scenario, marker });
    const summary = answerSse(turnFrames(scenario.wire, turn));
    gateway.upstream.on(path, (response, request) =>
      (request.text.includes('Write a summary') ? summary : task)(response, request),
    );
    return runCodexWith(workspace, config);
  });
  assert.equal(summaries().length, 1);
  const last = gateway.upstream.requests.at(-1)!.text;
  assert.match(last, /replaced by this summary[\s\S]*The file was read/);
  assert.doesNotMatch(last, /tool_result/);
  await until(() => requestsSince(logged).length >= 5);
  assert.deepEqual(
    requestsSince(logged).filter((line) => line !== 'POST 200'),
    ['GET 101'],
  );
});

/** Codex's own provider, which is OpenAI's, at this gateway. */
function codexOwnConfig(name: string): string {
  return `model = "${name}"\nopenai_base_url = "${gateway.url}/v1"\n`;
}

/** Method and status of each request in the gateway's log. */
function requestsSince(logged: number): readonly string[] {
  const lines = gateway.program.output.slice(logged).split('\n').filter(Boolean);
  return lines
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter(({ msg }) => msg === 'request')
    .map(({ method, status }) => `${String(method)} ${String(status)}`);
}

const readWithClaude = {
  name: 'Bash',
  input: { command: 'cat note.txt', description: 'Read the note' },
};

const claudeScenarios: readonly Scenario[] = [
  { model: 'claude-haiku-4-5', wire: 'messages', call: readWithClaude },
  { model: 'gpt-6-luna', wire: 'responses', call: readWithClaude },
  { model: 'chat-model', wire: 'chat', call: readWithClaude },
  { model: 'gemini-model', wire: 'gemini', call: readWithClaude },
];

for (const scenario of claudeScenarios) {
  test(`Claude Code finishes a task with ${scenario.model}, whose provider speaks ${scenario.wire}`, async (t) => {
    await runScenario(t, scenario, runClaudeTask);
  });
}

const readWithOpencode = { name: 'read', input: { filePath: 'note.txt' } };

const opencodeScenarios: readonly Scenario[] = [
  { model: 'claude-haiku-4-5', wire: 'messages', call: readWithOpencode },
  { model: 'gpt-6-luna', wire: 'responses', call: readWithOpencode },
  { model: 'chat-model', wire: 'chat', call: readWithOpencode },
  { model: 'gemini-model', wire: 'gemini', call: readWithOpencode },
];

for (const scenario of opencodeScenarios) {
  test(`opencode finishes a task with ${scenario.model}, whose provider speaks ${scenario.wire}`, async (t) => {
    await runScenario(t, scenario, runOpencode);
  });
}

const readWithQwen = {
  name: 'run_shell_command',
  input: { command: 'cat note.txt', is_background: false },
};

// It speaks Chat only, which a model of OpenAI's gets untranslated, as chat-model does.
const qwenScenarios: readonly Scenario[] = [
  { model: 'claude-haiku-4-5', wire: 'messages', call: readWithQwen, dropsReasoning: true },
  { model: 'chat-model', wire: 'chat', call: readWithQwen },
  { model: 'gemini-model', wire: 'gemini', call: readWithQwen, dropsReasoning: true },
];

for (const scenario of qwenScenarios) {
  test(`Qwen Code finishes a task with ${scenario.model}, whose provider speaks ${scenario.wire}`, async (t) => {
    // It sometimes halts itself, because it takes a side request's call for a repetition.
    await runScenario(t, scenario, runQwen).catch(() => runScenario(t, scenario, runQwen));
  });
}

type Run = (workspace: Workspace, model: string, marker: string) => Promise<ProgramResult>;

async function runScenario(
  t: TestContext,
  { model: name, wire, call, dropsReasoning = false }: Scenario,
  run: Run,
): Promise<void> {
  const marker = `note-${randomBytes(8).toString('hex')}`;
  const sent = gateway.upstream.requests.length;
  gateway.upstream.on(paths[wire], playTask(wire, { call, marker, dropsReasoning }));
  const result = await run(makeWorkspace(t, marker), name, marker);
  const output = `${result.stdout}\n${result.stderr}`.slice(-4_000);
  assert.equal(result.code, 0, output);
  assert.ok(result.stdout.includes(`The note says: ${marker}`), output);
  const asked = gateway.upstream.requests.slice(sent).map((request) => request.path);
  assert.deepEqual([...new Set(asked)], [paths[wire]], 'no other path was requested');
  assert.ok(asked.length >= 2, 'the tool’s result came back');
}

/**
 * The system prompt's size in `/context`: the provider's count, or Claude Code's estimate if the
 * gateway cannot count.
 */
const contexts = [
  { model: 'claude-haiku-4-5', shown: /\| System prompt \| 4\.3k \|/, counts: true },
  { model: 'gpt-6-luna', shown: /\| System prompt \| (?!4\.3k)/, counts: false },
] as const;

for (const { model: name, shown, counts } of contexts) {
  test(`Claude Code shows its context with ${name}, free of charge`, async (t) => {
    const owner = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    const sent = gateway.upstream.requests.length;
    // It counts each part of the system prompt separately.
    gateway.upstream.on(countPath, (response, request) => {
      const { messages } = request.body as { messages: readonly { content: unknown }[] };
      const isPrompt = String(messages[0]?.content).includes('You are an agent');
      return answerJson({ input_tokens: isPrompt ? 4_321 : 0 })(response, request);
    });
    const result = await runClaude(makeWorkspace(t, 'nothing'), {
      name,
      args: ['-p', '/context'],
      token: owner.key,
    });
    const output = `${result.stdout}\n${result.stderr}`.slice(-4_000);
    assert.equal(result.code, 0, output);
    assert.match(result.stdout, shown, output);
    const asked = gateway.upstream.requests.slice(sent).map((request) => request.path);
    assert.deepEqual([...new Set(asked)], counts ? [countPath] : []);
    const { availableMicros, heldMicros } = await gateway.balance(owner.account);
    assert.deepEqual([availableMicros, heldMicros], [1_000_000, 0]);
  });
}

const task = 'Read note.txt in this folder and tell me what it says.';

function runCodex(workspace: Workspace, name: string): Promise<ProgramResult> {
  return runCodexWith(workspace, codexConfig(name));
}

async function runCodexWith(workspace: Workspace, config: string): Promise<ProgramResult> {
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
function codexConfig(name: string): string {
  return readGuide('codex', /```toml\n([\s\S]*?)```/).replace(/^model = .*$/m, `model = "${name}"`);
}

function runClaudeTask(workspace: Workspace, name: string): Promise<ProgramResult> {
  return runClaude(workspace, { name, args: ['-p', task, '--allowedTools', 'Bash'], token: key });
}

type ClaudeRun = {
  readonly name: string;
  readonly args: readonly string[];
  readonly token: string;
};

async function runClaude(
  workspace: Workspace,
  { name, args, token }: ClaudeRun,
): Promise<ProgramResult> {
  const env = { ...claudeSettings(name, token), CLAUDE_CONFIG_DIR: join(workspace.root, 'claude') };
  return runProgram('claude', { workspace, args, env });
}

function claudeSettings(name: string, token: string): Record<string, string> {
  const lines = readGuide('claude-code', /```sh\n((?:export \w+=.*\n)+)claude /).matchAll(
    /^export (\w+)=(.*)$/gm,
  );
  const values: Readonly<Record<string, string>> = { 'gpt-6-luna': name, $TOLLGATE_KEY: token };
  return Object.fromEntries(
    [...lines].map(([, variable = '', value = '']) => [variable, values[value] ?? value]),
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
  const env = {
    OPENAI_BASE_URL: `${gateway.url}/v1`,
    OPENAI_API_KEY: key,
    OPENAI_MODEL: name,
    // The gateway's limit of `max_tokens` in Chat, unless its operator raises it.
    QWEN_CODE_MAX_OUTPUT_TOKENS: '2048',
  };
  const args = ['--auth-type', 'openai', '--approval-mode', 'yolo', task];
  return runProgram('qwen', { workspace, args, env });
}

function readGuide(name: string, block: RegExp): string {
  const path = join(import.meta.dirname, '..', '..', 'docs', 'guides', `${name}.md`);
  const found = block.exec(readFileSync(path, 'utf8'))?.[1];
  assert.ok(found, `docs/guides/${name}.md has no block ${String(block)}`);
  return found.replaceAll('http://127.0.0.1:4000', gateway.url);
}
