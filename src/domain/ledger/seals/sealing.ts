// Looks every hour for days to seal and to remove, in one thread of the process.
import { Worker } from 'node:worker_threads';
import type { RetentionConfig } from '../../../config/schema.ts';
import type { Database } from '../../../db/database.ts';
import type { CancelTimer, Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import type { LookEvent } from './look.ts';
import type { Retention } from './remove-days.ts';

export type LookSettings = { readonly databaseUrl: string; readonly retention: Retention | null };

type SealingOptions = {
  readonly database: Pick<Database, 'url'>;
  readonly retention: Readonly<RetentionConfig> | null;
  readonly log: Logger;
  readonly clock: Clock;
};

/** After the start, when a gateway has other things to do. */
const firstLookMs = 10 * 60_000;
const lookEveryMs = 60 * 60_000;

export class Sealing {
  /** The end of the last sealed day, in Unix milliseconds; 0 before the first look. */
  sealedUntilMs = 0;
  /** When the last look ended, or the start, in Unix milliseconds. */
  lookedAtMs: number;
  /** True if the last look found a day that cannot be sealed, exported or removed. */
  hasProblem = false;
  readonly #settings: LookSettings;
  readonly #log: Logger;
  readonly #clock: Clock;
  #timers: readonly CancelTimer[] = [];
  #worker: Worker | null = null;

  constructor({ database, retention, log, clock }: SealingOptions) {
    this.#settings = {
      databaseUrl: database.url,
      retention: retention && {
        chargesDays: retention.charges_days,
        exportFolder: retention.export_folder,
      },
    };
    this.#log = log;
    this.#clock = clock;
    this.lookedAtMs = clock.nowMs();
  }

  start(): void {
    this.#timers = [
      this.#clock.after(firstLookMs, () => this.#look()),
      this.#clock.every(lookEveryMs, () => this.#look()),
    ];
  }

  /** Ends a look under way; the next start goes on where it was. */
  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    await this.#worker?.terminate();
  }

  #look(): void {
    // The first one after an upgrade may take longer than an hour.
    if (this.#worker) return;
    // The file is beside this one, in source and in the build.
    const file = import.meta.url.endsWith('.ts') ? './look-thread.ts' : './look-thread.js';
    const worker = new Worker(new URL(file, import.meta.url), { workerData: this.#settings });
    let hasProblem = false;
    worker.on('message', (event: LookEvent) => {
      this.#note(event);
      if (event.kind === 'done') {
        this.hasProblem = hasProblem;
        this.lookedAtMs = this.#clock.nowMs();
      } else if (event.kind.startsWith('not-')) hasProblem = true;
    });
    worker.on('error', (err) => {
      this.hasProblem = true;
      this.#log.error({ err }, 'days cannot be sealed; retrying');
    });
    worker.on('exit', () => (this.#worker = null));
    worker.unref();
    this.#worker = worker;
  }

  #note(event: LookEvent): void {
    if (event.kind === 'done' || event.kind === 'skipped') {
      this.sealedUntilMs = event.sealedUntilMs ?? 0;
      return;
    }
    const { kind, ...fields } = event;
    const [level, message] = notes[kind];
    this.#log[level](fields, message);
  }
}

const notes = {
  sealed: ['info', 'a day of the ledger is sealed'],
  removed: ['info', 'the charges of an old day were exported and removed'],
  'state-restored': ['warn', 'the state of a seal was lost or changed, and is restored'],
  'not-sealed': ['error', 'a day of the ledger does not agree and is not sealed, nor a later one'],
  'not-removed': ['error', 'the charges of an old day differ from their seal and stay'],
  'not-exported': ['error', 'the charges of an old day cannot be exported and stay; retrying'],
  'no-partitions': ['warn', 'partitions of coming days cannot be made; retrying'],
  'clock-doubted': ['warn', 'no day is sealed until the clock has gone on for twelve hours'],
} as const;
