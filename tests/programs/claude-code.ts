// The real Claude Code does all that it can in one session, on models of every upstream format: a
// command in the background, a subagent, an image, an MCP tool, a web search, and a compaction, in auto
// mode and with a context of a million tokens. A scripted model asks for each in turn.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { answerJson, answerSse, type Script, type SseFrame } from '../support/upstream.ts';
import { makeWorkspace, runProgram, type Workspace } from './command.ts';
import { turnFrames, type ToolCall, type Wire } from './turns.ts';

const paths = {
  responses: '/v1/responses',
  messages: '/v1/messages',
  chat: '/local/v1/chat/completions',
  gemini: '/v1beta/models/upstream:streamGenerateContent',
} as const satisfies Partial<Record<Wire, string>>;

const model = (provider: string, id = 'upstream') => ({
  routes: [{ provider, model: id }],
  prices: { input: 1, output: 2, cache_write: 1, cache_read: 1 },
  max_input_tokens: 1_000_000,
  max_output_tokens: 64_000,
  supports: { thinking: true, streaming: true, vision: true },
});

let gateway: TestGateway;
let key: string;
before(async () => {
  gateway = await startGateway((upstream) => ({
    providers: {
      google: { kind: 'google', base_url: upstream.url, api_key: 'none' },
      brave: { base_url: `${upstream.url}/brave`, api_key: 'none' },
    },
    search: { price_usd: 0.005 },
    models: {
      'on-responses': model('openai'),
      // Verdicts on calls pass to Claude models.
      'claude-opus-5': model('anthropic', 'claude-opus-5'),
      'on-chat': model('local'),
      'on-gemini': model('google'),
    },
  }));
  ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 100 }));
  const page = { title: 'A page', url: 'https://example.com/', description: 'found-by-search' };
  gateway.upstream.on('/brave/web/search', answerJson({ web: { results: [page] } }));
});
after(() => gateway.stop());

/** One red pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** Each names its place, `step-0`, so that the model sees which have been made. */
const calls = ({ work }: Workspace): readonly ToolCall[] => [
  {
    name: 'Bash',
    input: { command: 'echo from-bash', description: 'step-0', run_in_background: true },
  },
  {
    name: 'Agent',
    input: {
      description: 'step-1',
      prompt: 'SUBTASK: say hello.',
      subagent_type: 'general-purpose',
    },
  },
  { name: 'Read', input: { file_path: join(work, 'step-2.png') } },
  { name: 'mcp__notes__lookup', input: { word: 'step-3' } },
  { name: 'WebSearch', input: { query: 'step-4 of the task' } },
];

const prompt = 'MAIN TASK: do all that you are told.';

/** Asks for the calls in turn, and reports the end. */
function playAll(wire: Wire, workspace: Workspace): Script {
  const all = calls(workspace);
  return (response, request) => {
    const body = JSON.stringify(request.body);
    const isMain = body.includes(prompt) && body.includes('"Bash"');
    const step = all.findLastIndex((_, index) => body.includes(`step-${index}`)) + 1;
    const call = isMain ? all[step] : undefined;
    const text = body.includes('SUBTASK') && !isMain ? 'hello-from-agent' : 'All is done.';
    const turn = call
      ? {
          call: { ...call, id: `toolu_${step}` },
          thinking: { text: 'Next.', signature: Buffer.from(`step ${step}`).toString('base64') },
        }
      : { text };
    const frames = turnFrames(wire, turn);
    return answerSse(call ? frames.map((frame) => judged(frame, `toolu_${step}`)) : frames)(
      response,
      request,
    );
  };
}

/** In auto mode, Anthropic judges each call of a tool; the verdict is in the answer. */
function judged(frame: SseFrame, callId: string): SseFrame {
  if (typeof frame === 'string' || frame.event !== 'message_delta') return frame;
  const { delta, ...data } = frame.data as { readonly delta: object };
  const verdict = { type: 'evaluated', outcome: 'not_flagged' };
  const status = { type: 'available', tool_uses: { [callId]: verdict } };
  const results = [{ type: 'dangerous_tool_use', status }];
  return { ...frame, data: { ...data, delta: { ...delta, safeguard_results: results } } };
}

const mcpServer = `
import { createInterface } from 'node:readline';
const tool = { name: 'lookup', description: 'Looks a word up.', inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] } };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } }
    : method === 'tools/list' ? { tools: [tool] }
    : { content: [{ type: 'text', text: 'from-mcp' }] };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
}`;

function prepare(workspace: Workspace): string {
  writeFileSync(join(workspace.work, 'step-2.png'), png);
  const server = join(workspace.root, 'mcp.mjs');
  writeFileSync(server, mcpServer);
  const path = join(workspace.root, 'mcp.json');
  const notes = { command: process.execPath, args: [server] };
  writeFileSync(path, JSON.stringify({ mcpServers: { notes } }));
  mkdirSync(join(workspace.root, 'claude'));
  return path;
}

for (const wire of ['messages', 'responses', 'chat', 'gemini'] as const)
  test(`Claude Code does everything on a model whose provider speaks ${wire}, and no request is refused`, async (t) => {
    const workspace = makeWorkspace(t, 'nothing');
    const mcpConfig = prepare(workspace);
    const sent = gateway.upstream.requests.length;
    const logged = gateway.program.output.length;
    gateway.upstream.on(paths[wire], playAll(wire, workspace));
    const name = wire === 'messages' ? 'claude-opus-5' : `on-${wire}`;
    const env = {
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_MODEL: `${name}[1m]`,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: name,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CONFIG_DIR: join(workspace.root, 'claude'),
    };
    // Other providers give no verdicts, so that auto mode runs nothing there.
    const mode =
      wire === 'messages'
        ? ['--permission-mode', 'auto']
        : ['--allowedTools', 'Bash,Agent,Read,WebSearch,mcp__notes__lookup'];
    const args = ['-p', prompt, '--mcp-config', mcpConfig, ...mode];
    const result = await runProgram('claude', { workspace, args, env });
    const output = `${result.stdout}\n${result.stderr}`.slice(-4_000);
    const requests = gateway.upstream.requests.slice(sent);
    assert.equal(result.code, 0, output);
    assert.match(result.stdout, /All is done\./, output);
    const bodies = requests.map(({ body }) => JSON.stringify(body));
    const last = bodies.findLast((body) => body.includes('step-4')) ?? '';
    const found = [
      'Command running in background',
      'from-mcp',
      png.toString('base64').slice(0, 40),
    ];
    for (const text of found) assert.ok(last.includes(text), `${text}: ${last.slice(-3_000)}`);
    // It runs in the background, so that its end may come after the last request.
    assert.ok(bodies.some((body) => body.includes('SUBTASK') && !body.includes(prompt)));
    const compacted = await runProgram('claude', {
      workspace,
      args: ['-p', '--continue', '/compact'],
      env,
    });
    assert.equal(compacted.code, 0, compacted.stdout + compacted.stderr);
    const all = gateway.upstream.requests.slice(sent);
    if (wire === 'messages')
      assert.ok(all.some(({ body }) => JSON.stringify(body).includes('"safeguards"')));
    const answered = () =>
      gateway.program.output
        .slice(logged)
        .split('\n')
        .filter((line) => line.includes('"request"'))
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ msg }) => msg === 'request');
    // The log comes a moment after the answer.
    await until(() => answered().length >= all.length);
    const refused = answered().filter(({ status }) => Number(status) >= 400);
    assert.deepEqual(refused, []);
  });
