// Runs one task of two tools with every client that a registry has, on a model of each upstream
// format and cloud, and prints a table of them. `TOLLGATE_TEST_CLIENTS` names those to run, with commas.
import { after, test } from 'node:test';
import { clients, gateway, runClient, upstreamNames, type Client } from './clients.ts';

const chosen = process.env['TOLLGATE_TEST_CLIENTS']?.split(',');
const results = new Map<string, string>();

after(async () => {
  await gateway.stop();
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rows = Object.values(clients).map(({ title }) =>
    row([
      title,
      ...upstreamNames.map((upstream) => results.get(`${title} ${upstream}`) ?? 'not run'),
    ]),
  );
  const head = ['client', ...upstreamNames.map((upstream) => `on ${upstream}`)];
  console.log(['', row(head), row(head.map(() => '---')), ...rows, ''].join('\n'));
});

for (const [name, client] of Object.entries<Client>(clients)) {
  if (chosen && !chosen.includes(name)) continue;
  for (const upstream of upstreamNames) {
    test(`${client.title} finishes a task of two tools on ${upstream}`, async (t) => {
      const cell = `${client.title} ${upstream}`;
      const startMs = performance.now();
      results.set(cell, 'failed');
      await runClient(t, client, upstream);
      results.set(cell, `done in ${Math.round((performance.now() - startMs) / 1_000)} s`);
    });
  }
}
