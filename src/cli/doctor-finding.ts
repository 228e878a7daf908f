// One result of `tollgate doctor`.

export type Finding = {
  readonly area: 'versions' | 'configuration' | 'database' | 'disk' | 'clock' | 'providers';
  readonly level: 'ok' | 'warning' | 'error';
  readonly what: string;
  /** null: nothing to do. */
  readonly remedy: string | null;
};
