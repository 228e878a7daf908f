// What an old database must contain, read from it by its own version.

export type OldKey = {
  readonly id: string;
  readonly account: string;
  readonly mode: 'live' | 'test';
  readonly key: string;
  readonly state: 'works' | 'revoked' | 'disabled' | 'without-money';
};

export type Manifest = {
  readonly commit: string;
  /** The installation's secret. */
  readonly secret: string;
  readonly madeAtMs: number;
  /** Names as that version had them, in the order in which they ran. */
  readonly migrations: readonly string[];
  readonly keys: readonly OldKey[];
  /** null: the version had no users. */
  readonly user: { readonly email: string; readonly password: string } | null;
  readonly hasImages: boolean;
  readonly ledgers: readonly {
    readonly id: string;
    readonly account: string;
    readonly mode: 'live' | 'test';
    readonly postedMicros: number;
    readonly charges: number;
    readonly chargedMicros: number;
  }[];
  /** Left by the stream during which the version was killed. */
  readonly holds: { readonly count: number; readonly micros: number };
};
