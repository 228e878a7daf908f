/** What a host wants otherwise. Each may be left out: nothing. */
export type HostWishes = {
  /** Harmless fields that it refuses with an error; they are left out. */
  readonly refused?: readonly string[];
  /** It refuses all fields but these. */
  readonly only?: readonly string[];
  /** Its own name of a field. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Its word for a tool choice that forces any call. */
  readonly forcedChoice?: string;
};
