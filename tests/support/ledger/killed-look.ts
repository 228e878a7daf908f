// A process that looks once and kills itself at a call of its clock: a removal asks it before it
// marks the day (the file is written by then), after the deletion, and before the last mark. Or at
// the first pause between two steps of a deletion.
import { openDatabase } from '../../../src/db/database.ts';
import { look } from '../../../src/domain/ledger/seals/look.ts';

const [url, exportFolder, nowMs, chargesDays, killAt] = process.argv.slice(2);
const database = openDatabase(url!);
let calls = 0;
const kill = () => process.kill(process.pid, 'SIGKILL');
await look({
  database,
  owner: 'one',
  retention: { chargesDays: Number(chargesDays), exportFolder: exportFolder! },
  tell: () => {},
  nowMs: () => {
    calls += 1;
    if (String(calls) === killAt) kill();
    return Number(nowMs);
  },
  pause: async () => {
    if (killAt === 'pause') kill();
  },
});
await database.close();
