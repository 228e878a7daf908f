/** Each account has a live and a test ledger, with their own keys. */
export const modes = ['live', 'test'] as const;
export type Mode = (typeof modes)[number];
