// What Claude Code reads about a cap: headers on answers, from which it says how much is used, and on
// the refusal at the cap. A prepaid balance has no such headers: it has no sum to be a part of, and
// does not start anew. Facts: Claude Code's description of its gateway protocol, 2026-11.
import type { CapState } from '../../domain/ledger/commands.ts';
import type { Headers } from '../client.ts';

const prefix = 'anthropic-ratelimit-unified-';
/** Parts of a cap at which users are warned. */
const thresholds = [0.95, 0.75];

/** Headers of an answer under a cap; none without one. */
export function spendNotice(cap: CapState | undefined): Headers {
  if (!cap || cap.capMicros === 0) return {};
  // Below 1 while requests are allowed, as the client expects.
  const used = Math.min(Math.floor((cap.spentMicros / cap.capMicros) * 100), 99) / 100;
  const surpassed = thresholds.find((threshold) => used >= threshold);
  const status = surpassed === undefined ? 'allowed' : 'allowed_warning';
  const reset = secondsOf(cap.resetsAtMs);
  return prefixed({
    status,
    'representative-claim': 'overage',
    'overage-status': status,
    'overage-utilization': used.toFixed(2),
    ...(surpassed !== undefined && { 'overage-surpassed-threshold': String(surpassed) }),
    reset,
    'overage-reset': reset,
  });
}

/**
 * Headers of the refusal at a cap. Without `representative-claim` and `overage-status` the client
 * shows our message instead of its own.
 */
export function spendRefusal(isDaily: boolean, resetsAtMs: number): Headers {
  const reset = secondsOf(resetsAtMs);
  return prefixed({
    status: 'rejected',
    reset,
    'overage-reset': reset,
    'overage-utilization': '1',
    'overage-surpassed-threshold': '1',
    'overage-period': isDaily ? 'daily' : 'monthly',
    'overage-disabled-reason': 'org_spend_cap_reached',
  });
}

function prefixed(fields: Readonly<Record<string, string>>): Headers {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]));
}

/** Whole seconds: a reset is a UTC midnight. */
function secondsOf(ms: number): string {
  return String(Math.floor(ms / 1_000));
}
