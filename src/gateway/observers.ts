// What counts and keeps for reports, metrics and the history.
import type { Activity } from '../domain/activity/activity.ts';
import type { KeptBodies } from '../domain/bodies/kept-bodies.ts';
import type { Meter } from './meter.ts';

export type Observers = {
  /** Counts what the ledger does not book. */
  readonly activity: Activity;
  /** Counts for the metrics. */
  readonly meter: Meter;
  /** Keeps the bodies of requests whose key asks for it. */
  readonly bodies: KeptBodies;
};
