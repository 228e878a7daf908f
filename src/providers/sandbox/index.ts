// The provider behind test keys: it answers by rule, offline, and the same request always gets the same answer.
// docs/test-mode.md tells developers what it does; that file and this folder change together.
import type { SandboxProviderKind } from '../provider.ts';
import { run } from './run.ts';
import { countInputTokens } from './usage.ts';

export { searchSandbox } from './search.ts';
export { sandboxImages } from './generate-images.ts';

export const sandbox: SandboxProviderKind = { kind: 'sandbox', transport: 'sandbox', run, countTokens: countInputTokens };
