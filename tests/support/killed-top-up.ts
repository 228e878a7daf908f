// A gateway that checks once, to be killed while Stripe has its request.
import { openLedgerInProcess } from '../../src/domain/ledger/open-ledger.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openToppingUp } from './topping-up.ts';

const [databaseUrl, stripeUrl] = process.argv.slice(2);
const ledger = await openLedgerInProcess(databaseUrl!);
const gateway = openToppingUp({
  databaseUrl: databaseUrl!,
  ledger,
  stripeUrl: stripeUrl!,
  clock: systemClock,
});
await gateway.autoTopUps.check();
