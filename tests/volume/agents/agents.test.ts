// OpenAI's Agents SDK for Python and pydantic-ai run a task with a tool, and a second turn after it,
// on models of every upstream format. Needs Python with venv.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { everyLoopModel, startLoopGateway, type LoopGateway } from '../../support/loop-gateway.ts';
import { installPython, skipWithoutPython as skip } from '../../support/python.ts';
import { report, reportWithoutReasoning } from '../../support/tool-loop.ts';

/** A line of `run_agents.py`. `outputs`: the answer of each turn, or an error. */
type Run = {
  readonly client: string;
  readonly api: string;
  readonly model: string;
  readonly streamed: boolean;
  readonly thinking: boolean;
  readonly outputs: readonly string[];
  readonly asked: readonly string[];
};

const timeoutMs = 300_000;
let loop: LoopGateway | undefined;
let runs: readonly Run[];

before(async () => {
  if (skip !== false) return;
  const python = installPython(join(import.meta.dirname, 'requirements.txt'));
  loop = await startLoopGateway();
  const { stdout } = await promisify(execFile)(
    join(python, 'bin', 'python'),
    [join(import.meta.dirname, 'run_agents.py'), ...everyLoopModel.map(({ id }) => id)],
    { env: { GATEWAY: loop.gateway.url, TOLLGATE_KEY: loop.key }, timeout: timeoutMs },
  );
  runs = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Run);
});
after(() => loop?.gateway.stop());

const clients = {
  agents_sdk: ['chat', 'responses'],
  pydantic_ai: ['chat', 'responses', 'messages'],
};

const openai = ['on-responses', 'on-azure'];
const claude = ['on-messages', 'on-converse', 'on-invoke', 'on-vertex-claude', 'on-azure-claude'];

/**
 * Models whose reasoning a client drops, by turn. In Chat, the SDK keeps only `extra_content`, and
 * pydantic-ai also `reasoning_content`. Claude answers a tool's result without its reasoning by not
 * thinking, so that nothing is missing in that turn.
 */
const lost: Readonly<
  Record<string, readonly [first: readonly string[], second: readonly string[]]>
> = {
  'agents_sdk chat': [
    [...openai, 'on-chat'],
    [...openai, 'on-chat', ...claude],
  ],
  'pydantic_ai chat': [openai, [...openai, ...claude]],
};

for (const [client, apis] of Object.entries(clients))
  for (const api of apis)
    for (const { id: model } of everyLoopModel)
      test(
        `${client} by ${api} on ${model}: an agent calls its tool and goes on after it, whole and streamed`,
        { skip },
        () => {
          const own = runs.filter(
            (run) => run.client === client && run.api === api && run.model === model,
          );
          assert.equal(own.length, 4);
          for (const { streamed, thinking, outputs, asked } of own) {
            const expected = [0, 1].map((turn) =>
              thinking && lost[`${client} ${api}`]?.[turn]?.includes(model)
                ? reportWithoutReasoning
                : report,
            );
            assert.deepEqual(outputs, expected, JSON.stringify({ streamed, thinking }));
            assert.deepEqual(asked.toSorted(), ['Paris', 'Rome']);
          }
        },
      );
