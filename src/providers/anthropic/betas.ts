// Which beta features a client may switch on. The credential is the operator's, so those that keep state at Anthropic, act on the
// operator's account, or change a price go no further; the rest only shape a request, and a new one must not wait for a release of ours.
// Fields that belong to a feature are checked by the Messages format; this is about what the header alone can do.

const keepsState = 'keeps state at the provider';
const otherPrice = 'changes what a request costs';
const operatorsAccount = "acts on the operator's account";
const uncounted = 'its tokens are not in the reported usage';

/** By name without its date, or the start of one that ends in `-`. */
export const refusedBetas: Readonly<Record<string, string>> = {
  'files-api': keepsState,
  'code-execution': keepsState,
  skills: keepsState,
  'agent-memory': keepsState,
  'message-threads': keepsState,
  'managed-agents': keepsState,
  dreaming: keepsState,
  'message-batches': keepsState,
  /** Compares with earlier requests, which may be other accounts'. */
  'cache-diagnosis': keepsState,
  'mcp-': 'the provider would call servers, with tokens that no hold can cover',
  'web-': 'the provider would search and fetch, which is billed beside the tokens',
  'advisor-tool': 'asks another model at another price',
  'server-side-fallback': 'asks another model at another price',
  'fallback-credit': otherPrice,
  'fast-mode': otherPrice,
  /** Beyond 200 000 tokens the models that need it cost more, and the catalogue has no such tier for them. */
  'context-1m': otherPrice,
  compact: uncounted,
  /** For sign-in with an account, while we send a key. */
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
};

/** The client's `anthropic-beta` without what is refused: `'skills-2025-10-02, context-management-2025-06-27'` gives the second. */
export function allowedBetas(header: string | undefined): string {
  if (header === undefined) return '';
  const betas = header.split(',').map((beta) => beta.trim());
  return betas.filter((beta) => /^[\w.-]+$/.test(beta) && !isRefused(beta)).join(',');
}

function isRefused(beta: string): boolean {
  const name = beta.toLowerCase().replace(/-\d{4}-?\d{2}-?\d{2}$/, '');
  return Object.keys(refusedBetas).some((refused) => (refused.endsWith('-') ? name.startsWith(refused) : name === refused));
}
