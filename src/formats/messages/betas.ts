// Decides which beta features a client may enable. The credential is the operator's, so features
// that keep state at Anthropic, act on the operator's account or change a price are refused. Others
// only shape a request and are allowed by default, so that a new one works without a release of
// ours. field-verdicts.ts decides on the fields of a feature; this module decides on the effects
// of the header alone.

const keepsState = 'keeps state at the provider';
const otherPrice = 'changes what a request costs';
const operatorsAccount = "acts on the operator's account";
const uncounted = 'its tokens are not in the reported usage';

/** By name without its date; a name that ends in `-` is a prefix. */
export const refusedBetas: Readonly<Record<string, string>> = {
  'files-api': keepsState,
  'code-execution': keepsState,
  skills: keepsState,
  'agent-memory': keepsState,
  'message-threads': keepsState,
  'managed-agents': keepsState,
  dreaming: keepsState,
  'message-batches': keepsState,
  /** Compares with earlier requests, which may be another account's. */
  'cache-diagnosis': keepsState,
  'mcp-': 'the provider would call servers, with tokens that no hold can cover',
  'web-': 'the provider would search and fetch, which is billed beside the tokens',
  'advisor-tool': 'asks another model at another price',
  'server-side-fallback': 'asks another model at another price',
  'fallback-credit': otherPrice,
  /**
   * Above 200 000 tokens the affected models cost more, and the catalogue has no such tier for
   * them.
   */
  'context-1m': otherPrice,
  compact: uncounted,
  /** For sign-in with an account; we send a key. */
  oauth: operatorsAccount,
  'user-profiles': operatorsAccount,
  'user-profiles-billing': operatorsAccount,
  'admin-': operatorsAccount,
  'analytics-': operatorsAccount,
  'ce-': operatorsAccount,
  'spend-limit-': operatorsAccount,
  'telemetry-': operatorsAccount,
  webhooks: operatorsAccount,
  'experimental-claude-tag': operatorsAccount,
  efs: operatorsAccount,
  'google-managed-data-controls': operatorsAccount,
};

/**
 * Returns the client's `anthropic-beta` without refused features: `'skills-2025-10-02,
 * context-management-2025-06-27'` gives the second. `known`: the features that the host knows, because
 * it refuses requests with others. Left out: all.
 */
export function allowedBetas(header: string | undefined, known?: ReadonlySet<string>): string {
  return namesIn(header ?? '')
    .filter((beta) => isAllowed(beta, known))
    .join(',');
}

/**
 * Returns the features that `allowedBetas` leaves out, as they are listed:
 * `['anthropic-beta.skills-2025-10-02']`.
 */
export function ignoredBetas(header: string | undefined, known?: ReadonlySet<string>): string[] {
  const ignored = namesIn(header ?? '').filter((beta) => !isAllowed(beta, known));
  return ignored.map((beta) => `anthropic-beta.${beta}`);
}

/** Some models run fast only with this feature. */
const fastMode = 'fast-mode-2026-02-01';

/** Returns the client's `anthropic-beta` with the feature that a fast request needs. */
export function withFastMode(header = ''): string {
  return [...new Set([...namesIn(header), fastMode])].join(',');
}

function namesIn(header: string): string[] {
  return header
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '');
}

function isAllowed(beta: string, known?: ReadonlySet<string>): boolean {
  return /^[\w.-]+$/.test(beta) && !isRefused(beta) && (known?.has(beta) ?? true);
}

function isRefused(beta: string): boolean {
  const name = beta.toLowerCase().replace(/-\d{4}-?\d{2}-?\d{2}$/, '');
  return Object.keys(refusedBetas).some((refused) =>
    refused.endsWith('-') ? name.startsWith(refused) : name === refused,
  );
}
