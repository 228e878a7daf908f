// `test`, `describe` and hooks that run a file's tests on both stores: first with gateways on
// SQLite, then on PostgreSQL; on the latter alone if TOLLGATE_TEST_DATABASE names it. Import them instead
// of `node:test`.
import * as runner from 'node:test';
import type { TestContext } from 'node:test';
import { currentStore, isChosen, useStore, type StoreName } from './test-store.ts';

type Body = (t: TestContext) => void | Promise<void>;
type Hook = () => void | Promise<void>;

const stores: readonly (readonly [StoreName, string])[] = [
  ['sqlite', 'on SQLite'],
  ['postgres', 'on PostgreSQL'],
];
/** The file's top-level registrations, replayed for each store. */
let steps: (() => void)[] = [];
/** The store whose tests are being registered. */
let current: StoreName | null = null;

/** Runs after a whole file is loaded. */
function replay(): void {
  const own = steps;
  steps = [];
  for (const [store, title] of stores) {
    if (!isChosen(store)) continue;
    void runner.describe(title, () => {
      const usual = currentStore();
      runner.before(() => useStore(store));
      runner.after(() => useStore(usual));
      current = store;
      for (const step of own) step();
      current = null;
    });
  }
}

/** The content of a `describe` is registered when it runs. */
function register(step: () => void): void {
  if (current !== null) return step();
  if (steps.length === 0) setImmediate(replay);
  steps.push(step);
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
  register(
    () =>
      void (rest.length === 1 ? runner.test(name, rest[0]) : runner.test(name, rest[0], rest[1])),
  );
}

/** A test for one store only: several gateways on PostgreSQL, or what no store has a part in. */
export function testOn(store: StoreName, name: string, body: Body): void {
  register(() => void (current === store && runner.test(name, body)));
}

export function describeOn(store: StoreName, name: string, body: () => void): void {
  register(() => void (current === store && runner.describe(name, body)));
}
