// A process that charges requests as fast as it can until it is killed. It prints the id of each
// confirmed charge. Arguments: the database's URL, then a name for this start.
import { writeSync } from 'node:fs';
import { creditOf, reserveOf, settleOf } from './test-ledger.ts';
import { openLedger } from '../../../src/domain/ledger/open-ledger.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const [databaseUrl = '', owner = ''] = process.argv.slice(2);
const ledgerId = 'acc:live';
const ledger = await openLedger({ databaseUrl, owner, clock: systemClock });
await ledger.submit(creditOf(ledgerId, 1_000_000_000, owner));
await Promise.all(Array.from({ length: 16 }, (_, lane) => chargeForever(lane)));

async function chargeForever(lane: number): Promise<never> {
  for (let number = 0; ; number++) {
    const asked = { holdId: `${owner}-${lane}-${number}`, ledgerId, keyId: 'k' } as const;
    await ledger.submit({ ...reserveOf(asked, 10), owner });
    await ledger.submit(settleOf(asked, 7));
    writeSync(1, `${asked.holdId}\n`);
  }
}
