// Runs one task of two tools with every client that a registry has, on a model of each upstream
// format, and prints a table of them. `TOLLGATE_TEST_CLIENTS` names those to run, with commas.
import { after, test } from 'node:test';
import { clients, gateway, runClient, type Client } from './clients.ts';
import type { Wire } from './turns.ts';

const wires = ['messages', 'responses', 'chat', 'gemini'] as const satisfies readonly Wire[];
const chosen = process.env['TOLLGATE_TEST_CLIENTS']?.split(',');
const results = new Map<string, string>();

after(async () => {
  await gateway.stop();
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rows = Object.values(clients).map(({ title }) =>
    row([title, ...wires.map((wire) => results.get(`${title} ${wire}`) ?? 'not run')]),
  );
  const head = ['client', ...wires.map((wire) => `on ${wire}`)];
  console.log(['', row(head), row(head.map(() => '---')), ...rows, ''].join('\n'));
});

for (const [name, client] of Object.entries<Client>(clients)) {
  if (chosen && !chosen.includes(name)) continue;
  for (const wire of wires) {
    test(`${client.title} finishes a task of two tools on ${wire}`, async (t) => {
      const cell = `${client.title} ${wire}`;
      const startMs = performance.now();
      results.set(cell, 'failed');
      await runClient(t, client, wire);
      results.set(cell, `done in ${Math.round((performance.now() - startMs) / 1_000)} s`);
    });
  }
}
