// `test`, `describe` and the hooks for a file whose tests run on each store: first with SQLite behind the gateways that it starts, then
// with PostgreSQL. Import these instead of those of `node:test`.
import * as runner from 'node:test';
import type { TestContext } from 'node:test';
import { useStore, type StoreName } from './test-store.ts';

type Body = (t: TestContext) => void | Promise<void>;
type Hook = () => void | Promise<void>;

const stores: readonly (readonly [StoreName, string])[] = [
  ['sqlite', 'on SQLite'],
  ['postgres', 'on PostgreSQL'],
];
/** Registrations of the file, made at its top level and replayed for each store. */
const steps: (() => void)[] = [];
let isRead = false;
/** Whose tests are being registered. */
let current: StoreName | null = null;

// Once the file has been read to its end.
setImmediate(() => {
  isRead = true;
  for (const [store, title] of stores) {
    void runner.describe(title, () => {
      runner.before(() => useStore(store));
      current = store;
      for (const step of steps) step();
    });
  }
});

/** What a `describe` holds is registered when that is run. */
function register(step: () => void): void {
  if (isRead) step();
  else steps.push(step);
}

export function before(hook: Hook): void {
  register(() => runner.before(hook));
}

export function after(hook: Hook): void {
  register(() => runner.after(hook));
}

export function beforeEach(hook: Hook): void {
  register(() => runner.beforeEach(hook));
}

export function describe(name: string, body: () => void): void {
  register(() => void runner.describe(name, body));
}

export function test(name: string, ...rest: [Body] | [runner.TestOptions, Body]): void {
  register(() => void (rest.length === 1 ? runner.test(name, rest[0]) : runner.test(name, rest[0], rest[1])));
}

/** Of what only one of the stores has: many gateways need PostgreSQL. At a file's top level. */
export function testOn(store: StoreName, name: string, body: Body): void {
  register(() => void (current === store && runner.test(name, body)));
}
