// Claude Code's auto mode asks for a verdict on each tool call (`safeguards`), and runs no call
// without one. Only Anthropic gives verdicts. Without Anthropic the answer says that there is none:
// a verdict is never invented.
import { isObject, type JsonObject } from '../../lib/json.ts';

/**
 * Returns the `safeguard_results` of an answer: those that the upstream sent, else `unsupported` for
 * each that was asked for.
 */
export function safeguardResults({ safeguards }: JsonObject, found?: unknown): JsonObject {
  if (Array.isArray(found)) return { safeguard_results: found };
  if (!Array.isArray(safeguards) || safeguards.length === 0) return {};
  const results = safeguards
    .filter(isObject)
    .map(({ type }) => ({ type, status: { type: 'unsupported' } }));
  return { safeguard_results: results };
}
