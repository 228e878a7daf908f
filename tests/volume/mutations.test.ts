// All lists of mutations, in one process: they share copies of the sources, and test files without a
// mutation.
import './mutations/agents.test.ts';
import './mutations/batches.test.ts';
import './mutations/idempotency.test.ts';
import './mutations/ledger.test.ts';
import './mutations/own-keys.test.ts';
import './mutations/product.test.ts';
import './mutations/settings.test.ts';
import './mutations/tags.test.ts';
