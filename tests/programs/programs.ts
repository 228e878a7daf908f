// Runs real clients, offline, against the started gateway: Claude Code, Codex, opencode, Qwen Code,
// Gemini CLI and aider finish a task each; what is special about Codex and Claude Code follows.
// Their settings come from docs/guides, so that the documented settings are proven to work.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { skipWithoutPython } from '../support/python.ts';
import { until } from '../support/until.ts';
import { answerJson, answerSse } from '../support/upstream.ts';
import {
  clients,
  codexConfig,
  gateway,
  paths,
  runClaude,
  runClient,
  runCodex,
  runCodexWith,
  runScenario,
  type Client,
  type Scenario,
  type UpstreamName,
} from './clients.ts';
import { makeWorkspace } from './command.ts';
import { playTask } from './play.ts';
import { turnFrames, type Turn } from './turns.ts';

after(() => gateway.stop());

const countPath = '/v1/messages/count_tokens';

/** `npm run test:clients` runs these, and more, on every upstream. */
const few: readonly (readonly [Client, UpstreamName])[] = [
  [clients.claude, 'responses'],
  [clients.claude, 'invoke'],
  [clients.claude, 'vertex'],
  [clients.codex, 'messages'],
  [clients.codex, 'azure'],
  [clients.opencode, 'gemini'],
  [clients.opencode, 'converse'],
  [clients.qwen, 'chat'],
  [clients.gemini, 'messages'],
];

for (const [client, upstream] of few) {
  test(`${client.title} finishes a task of two tools on ${upstream}`, (t) =>
    runClient(t, client, upstream));
}

test('aider finishes a task of two edits on messages', { skip: skipWithoutPython }, (t) =>
  runClient(t, clients.aider, 'messages'),
);

const script =
  'const read = await tools.exec_command({ cmd: "cat note.txt" });\ntext(read.output ?? read);';

/** Codex knows these models, and gives them one tool that takes a script. */
const scriptScenarios = [
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
] as const satisfies readonly Scenario[];

for (const scenario of scriptScenarios) {
  test(`Codex finishes a task with ${scenario.model}, whose provider speaks ${scenario.wire}`, async (t) => {
    await runScenario(t, scenario, runCodex);
  });
}

const socketScenarios = [
  { ...scriptScenarios[0], model: 'gpt-6-luna' },
  {
    model: 'claude-haiku-4-5',
    wire: 'messages',
    call: { name: 'exec_command', input: { cmd: 'cat note.txt' } },
  },
] as const satisfies readonly Scenario[];

/** With these, Codex opens a WebSocket. */
const codexSocketConfigs: Readonly<Record<string, (name: string) => string>> = {
  'a provider that supports WebSockets': (name) =>
    `${codexConfig(name)}supports_websockets = true\n`,
  'its own provider at another address': codexOwnConfig,
};

for (const [what, config] of Object.entries(codexSocketConfigs))
  for (const scenario of socketScenarios)
    test(`Codex, set to ${what}, finishes a task with ${scenario.model} over a WebSocket`, async (t) => {
      const logged = gateway.program.output.length;
      await runScenario(t, scenario, (workspace, name) => runCodexWith(workspace, config(name)));
      // The log comes a moment after the answer. The first request is a warm-up.
      await until(() => requestsSince(logged).length >= 4);
      assert.deepEqual(requestsSince(logged), ['GET 101', 'POST 200', 'POST 200', 'POST 200']);
    });

test('Codex compacts a conversation with a Claude model over a WebSocket, and goes on', async (t) => {
  const scenario = { ...socketScenarios[1], dropsReasoning: true };
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
