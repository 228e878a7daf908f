// What Claude Code asks a gateway for beside Messages. Its program contains a description of this
// protocol (2.1.329, "the wire contract the Claude Code CLI uses to talk to this gateway").
import { ApiError } from '../canonical/errors.ts';
import type { ApiKey } from '../domain/keys/api-key.ts';
import { fullestOf, ledgerIdOf, type CapState } from '../domain/ledger/commands.ts';
import {
  readKeySpending,
  readMemberSpending,
  type WindowSpending,
} from '../domain/ledger/reports/spending.ts';
import { isoTimeOf } from '../lib/iso-time.ts';
import { floorToCents, type Micros, zeroMicros } from '../lib/money.ts';
import { nextDayMs, nextMonthMs } from '../lib/utc-time.ts';
import { keyOf, type Handler, type ServerContext } from './context.ts';
import type { Route } from './route.ts';

export function claudeCodeRoutes(context: ServerContext): readonly Route[] {
  const telemetry = { anyBody: true, bodyBytesMax: telemetryBytesMax } as const;
  return [
    { method: 'GET', url: '/api/hello', auth: 'none', handler: getHello },
    { method: 'GET', url: '/api/oauth/usage', auth: 'usage', handler: getSpend(context) },
    { method: 'POST', url: '/v1/messages/cache_touch', handler: refuseCacheTouch },
    { method: 'POST', url: '/v1/metrics', handler: dropTelemetry, ...telemetry },
    { method: 'POST', url: '/v1/logs', handler: dropTelemetry, ...telemetry },
    { method: 'POST', url: '/v1/traces', handler: dropTelemetry, ...telemetry },
  ];
}

/** Its batches of telemetry are far smaller. */
const telemetryBytesMax = 4 * 1_024 * 1_024;

/** It asks this when it starts. */
const getHello: Handler = async (_request, reply) =>
  reply.header('cache-control', 'no-store').send({ ok: true });

/** Accepts a batch of telemetry and drops it: an error would be logged at each flush. */
const dropTelemetry: Handler = async (request, reply) => {
  request.body = undefined;
  const isJson = /json/i.test(request.headers['content-type'] ?? 'json');
  return isJson ? reply.send({}) : reply.type('application/x-protobuf').send(Buffer.alloc(0));
};

/** Keeps a prompt cache alive at Anthropic. The client goes on after a 501. */
const refuseCacheTouch: Handler = async () => {
  throw new ApiError('not_supported', 'Prompt caches are kept alive by requests only.', {
    headers: { 'x-should-retry': 'false' },
  });
};

/**
 * What is spent under the caps of the key and of its owner, in cents; without a cap what the key has
 * spent in this month.
 */
function getSpend({ database, gateway }: ServerContext): Handler {
  return async (request, reply) => {
    const key = keyOf(request);
    const nowMs = gateway.clock.nowMs();
    const spent = (await readKeySpending(database.read, [key.id], nowMs)).get(key.id);
    const caps = [
      ...capsOf({ daily: key.dailyCapMicros, monthly: key.monthlyCapMicros }, spent, nowMs),
      ...(await readBudgetCaps(database.read, key, nowMs)),
    ];
    const fullest = fullestOf(caps);
    reply.header('cache-control', 'no-store');
    return {
      extra_usage: {
        is_enabled: true,
        monthly_limit: fullest ? floorToCents(fullest.capMicros) : null,
        used_credits: floorToCents(fullest?.spentMicros ?? spent?.monthMicros ?? zeroMicros),
        utilization: fullest ? percentOf(fullest) : null,
        currency: 'USD',
      },
      limits: caps.map((cap) => rowOf(cap, cap === fullest)),
    };
  };
}

/** The caps of the budget in which the key's owner spends. */
async function readBudgetCaps(
  db: ServerContext['database']['read'],
  { budget, accountId, mode }: ApiKey,
  nowMs: number,
): Promise<readonly CapState[]> {
  if (!budget) return [];
  const members = await readMemberSpending(db, ledgerIdOf(accountId, mode), nowMs);
  const caps = { daily: budget.dailyMicros, monthly: budget.monthlyMicros };
  return capsOf(caps, members.get(budget.memberId), nowMs);
}

type Caps = { readonly daily: Micros | null; readonly monthly: Micros | null };

function capsOf(
  { daily, monthly }: Caps,
  spent: WindowSpending | undefined,
  nowMs: number,
): readonly CapState[] {
  const { dayMicros = zeroMicros, monthMicros = zeroMicros } = spent ?? {};
  const day = { window: 'day', spentMicros: dayMicros, resetsAtMs: nextDayMs(nowMs) } as const;
  const resetsAtMs = nextMonthMs(nowMs);
  const month = { window: 'month', spentMicros: monthMicros, resetsAtMs } as const;
  return [
    ...(daily === null ? [] : [{ ...day, capMicros: daily }]),
    ...(monthly === null ? [] : [{ ...month, capMicros: monthly }]),
  ];
}

function rowOf(cap: CapState, isActive: boolean) {
  const percent = percentOf(cap);
  return {
    kind: 'spend',
    group: cap.window === 'day' ? 'daily' : 'monthly',
    percent,
    resets_at: isoTimeOf(cap.resetsAtMs),
    severity: percent >= 75 ? 'warning' : 'normal',
    is_active: isActive,
  };
}

function percentOf({ capMicros, spentMicros }: CapState): number {
  return capMicros === 0 ? 100 : Math.floor((spentMicros / capMicros) * 100);
}
