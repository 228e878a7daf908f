// The functions that the main thread and the HTTP threads offer each other (lib/thread-calls.ts).
import type { MessagePort } from 'node:worker_threads';
import type { Config } from '../config/schema.ts';
import type { LedgerId } from '../domain/ledger/commands.ts';
import type { AddressRates } from '../domain/limits/address-rates.ts';
import type { DailyBytes } from '../domain/limits/daily-bytes.ts';
import type { RateGrant, RateRequest } from '../domain/limits/shared-rates.ts';
import type { SlotRequest } from '../domain/limits/shared-slots.ts';
import type { SavedSettings } from '../config/saved-settings.ts';
import type { RouteName, SharedHealth } from '../gateway/calling/shared-health.ts';
import type { ReadMetric } from '../lib/metrics/prometheus.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { SettingsProblem, SettingsState } from '../config/live-settings.ts';

/** The first message to an HTTP thread. It then listens. */
export type ThreadSettings = {
  readonly index: number;
  readonly count: number;
  readonly config: Config;
  readonly secrets: Secrets;
  /** null on PostgreSQL: the thread opens a ledger of its own there. */
  readonly ledger: { readonly owner: string; readonly port: MessagePort } | null;
  readonly health: SharedHealth;
  /** A number for each thread: the memory that it uses, in bytes. */
  readonly memoryUsed: Float64Array<SharedArrayBuffer>;
};

export type MainCalls = {
  readonly noteListening: (url: string) => void;
  /** Reports why the thread cannot start, in the operator's words. */
  readonly noteUnusable: (message: string) => void;
  /** Notes that the thread booked a loss that the account could provoke. */
  readonly noteLoss: (ledgerId: LedgerId) => void;
  readonly writeLog: (lines: string) => void;
  readonly exchangeRates: (requests: readonly RateRequest[]) => readonly RateGrant[];
  readonly exchangeSlots: (requests: readonly SlotRequest[]) => readonly number[];
  readonly takeFromAddress: AddressRates['take'];
  readonly takeDailyBytes: DailyBytes['take'];
  readonly takeName: (name: string, ticket: number) => Promise<boolean>;
  readonly leaveName: (name: string, ticket: number) => void;
  readonly giveBackName: (name: string) => void;
  /** Returns the metrics of all threads as Prometheus reads them. */
  readonly readMetrics: () => Promise<string>;
  readonly noteReadinessAsked: () => void;
  readonly resolveSettings: (settings: SavedSettings) => Config | SettingsProblem;
  readonly applySettings: () => Promise<void>;
  readonly settingsState: () => SettingsState;
};

export type ThreadCalls = {
  readonly noteNameAwaited: (ticket: number, isAwaited: boolean) => void;
  /** Notes that another thread booked a loss. */
  readonly noteLoss: (ledgerId: LedgerId) => Promise<void>;
  /** Uses another configuration. `shared`: the routes whose health the threads share. */
  readonly useConfig: (config: Config, shared: readonly RouteName[]) => Promise<void>;
  readonly flushLog: () => void;
  readonly ownMetrics: () => Promise<readonly ReadMetric[]>;
  readonly countRunning: () => number;
  /** `readinessAskedMs`: how long ago a load balancer asked any thread. */
  readonly stop: (readinessAskedMs: number) => Promise<void>;
};
