// Claude Code's auto mode asks for a verdict on each tool call (`safeguards`), and runs no call
// without one. Only Anthropic gives verdicts. Without Anthropic the answer says that there is none:
// a verdict is never invented.
import { isObject, type JsonObject } from '../../lib/json.ts';

/**
 * Returns `safeguard_results` for an answer: those found in the upstream's, if any; nothing when none
 * was asked for.
 */
export function safeguardResults({ safeguards }: JsonObject, found?: unknown): JsonObject {
  if (Array.isArray(found)) return { safeguard_results: found };
  if (!Array.isArray(safeguards) || safeguards.length === 0) return {};
  const results = safeguards
    .filter(isObject)
    .map(({ type }) => ({ type, status: { type: 'unsupported' } }));
  return { safeguard_results: results };
}
