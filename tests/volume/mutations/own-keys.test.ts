// Removes each guard of accounts' own keys in turn: tests must fail.
import { testMutations } from '../../support/mutations.ts';

const providers = 'gateway/routing/providers.ts';

testMutations(['tests/integration/own-keys.test.ts # on SQLite .*'], {
  'an own key goes to any address': {
    file: providers,
    guard: 'if (digestOfAddress(entry.base_url) !== addressDigest) return null;',
  },
  'an own key is used where it is not allowed': {
    file: providers,
    guard: 'if (!operators || !entry?.accounts_may_bring_keys) return null;',
    without: 'if (!operators || !entry) return null;',
  },
  'a refused own key takes the route of all out of use': {
    file: 'gateway/calling/health.ts',
    guard: `const key = keyOfRoute(route);
    const records = route.ownKeyId === undefined ? this.#records : this.#ownKeys;`,
    without: `const key = keyOfRoute({ ...route, ownKeyId: '' });
    const records = this.#records;`,
  },
  'a key opens in another account': {
    file: 'domain/keys/own-keys.ts',
    guard: '[id, accountId, provider, address]',
    without: '[id, provider, address]',
  },
  'the operator pays for own keys': {
    file: 'domain/catalog/price.ts',
    guard: 'upstream: listPrices(upstream, { markup: 1, multiplierPpm: 0 })',
    without: 'upstream',
  },
  'the operator is alarmed by own keys': {
    file: 'gateway/calling/health.ts',
    guard: 'route.ownKeyId === undefined ? this.#records : this.#ownKeys',
    without: 'this.#records',
  },
});
