// The memory of ended requests is freed by V8's small collections. `--trace-gc` prints the size of
// the heap after each of them: it must not climb. See "Garbage" in docs/internals.md.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerContent } from '../../support/answers.ts';
import { builtProgram } from '../../support/built-program.ts';
import { endpoint } from '../../support/endpoints.ts';
import { startGatewayProgram } from '../../support/gateway.ts';

const clients = 64;
/** During the first requests, V8 decides where it allocates their objects. */
const warmUps = 10_000;
const counted = 10_000;
/** It was over seven when ended requests survived. Running requests change it by about one. */
const grownMegabytesMax = 3;

test('small collections free ended requests', async (t) => {
  const gateway = await startGatewayProgram(
    { server: { threads: 1 }, log: { level: 'error' } },
    { argv: [process.execPath, '--trace-gc', builtProgram(), 'serve'] },
  );
  t.after(() => gateway.stop());
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1_000 });
  const chat = endpoint('chat');
  const content = { text: 'one two', tokens: { input: 100, output: 20 } };
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', content));
  const body = JSON.stringify(chat.body());
  const ask = async (count: number) => {
    let left = count;
    const client = async () => {
      while (left-- > 0) assert.equal((await gateway.post(chat.path, { key, body })).status, 200);
    };
    await Promise.all(Array.from({ length: clients }, client));
  };
  await ask(warmUps);
  const from = gateway.program.output.length;
  await ask(counted);
  const grown = growthsIn(gateway.program.output.slice(from)).toSorted((one, other) => one - other);
  const median = grown[Math.floor(grown.length / 2)];
  t.diagnostic(`${grown.length} small collections, each leaves ${median?.toFixed(1)} MB more`);
  assert.ok(grown.length >= 10, 'too few collections to tell');
  assert.ok(median! < grownMegabytesMax, `${median} MB`);
});

/** Returns the growth of the HTTP thread's heap from each small collection to the next, in MB. */
function growthsIn(output: string): number[] {
  const lines = [...output.matchAll(/^\[\d+:(\w+)\].* (Scavenge|Mark-Compact) .*?-> ([\d.]+) /gm)];
  const byThread = Map.groupBy(lines, ([, thread]) => thread);
  const busiest = [...byThread.values()].toSorted((one, other) => other.length - one.length)[0];
  return (busiest ?? []).flatMap(([, , kind, after], index, all) => {
    const before = all[index - 1];
    return kind === 'Scavenge' && before?.[2] === 'Scavenge'
      ? Number(after) - Number(before[3])
      : [];
  });
}
