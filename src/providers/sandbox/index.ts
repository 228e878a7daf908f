// The sandbox behind test keys: it answers by fixed rules, offline, and the same request always
// gets the same answer. docs/test-mode.md describes it for developers; change both together.
export { playCount, playExchange } from './play-exchange.ts';
export { searchSandbox } from './search.ts';
export { sandboxImages } from './generate-images.ts';
