// A gateway that checks once, to be killed while Stripe has its request.
import { systemClock } from '../../src/lib/clock.ts';
import { openToppingUp } from './topping-up.ts';

const [databaseUrl, stripeUrl] = process.argv.slice(2);
const clock = { ...systemClock };
const gateway = await openToppingUp({
  databaseUrl: databaseUrl!,
  owner: 'run_killed',
  stripeUrl: stripeUrl!,
  clock,
});
await gateway.autoTopUps.check();
await gateway.close();
