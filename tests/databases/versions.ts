// The first version that had each migration as it was released, oldest first. A name that changed
// later is there too. The first with 0010 is also the first with 0012 and 0013 beside today's 0009, the
// first with 0025 that with 0021 to 0024, and the first with 0032 that with 0027, 0031 and today's 0028.

type StoreName = 'sqlite' | 'postgres';

export type OldVersion = {
  /** The folder of its databases: its newest migration. */
  readonly name: string;
  readonly commit: string;
  readonly stores: readonly StoreName[];
};

const both = ['sqlite', 'postgres'] as const;

export const versions: readonly OldVersion[] = [
  { name: '0001-foundation', commit: '4f60018', stores: ['sqlite'] },
  { name: '0002-extensions', commit: 'fc20e6c', stores: ['sqlite'] },
  { name: '0003-web-searches', commit: '93b89bd', stores: both },
  { name: '0004-prices', commit: 'b7a95a2', stores: both },
  { name: '0005-idempotent-responses', commit: '9edae9f', stores: both },
  { name: '0006-cached-responses', commit: 'fa39ef7', stores: both },
  { name: '0007-limits', commit: '4be49d2', stores: both },
  { name: '0008-images', commit: '179b76d', stores: both },
  { name: '0011-audit-log', commit: '07c8846', stores: both },
  { name: '0010-sign-in', commit: 'daa56a5', stores: both },
  { name: '0014-proofs', commit: '2dc4acf', stores: both },
  { name: '0015-likely-costs', commit: '0fc1596', stores: both },
  { name: '0016-secrets', commit: '706c7b6', stores: both },
  { name: '0017-provoked-losses', commit: '5ef6890', stores: both },
  { name: '0018-card-fees', commit: '199e28f', stores: both },
  { name: '0009-activity', commit: '1075ee6', stores: both },
  { name: '0019-smaller-rows', commit: 'd327657', stores: both },
  { name: '0020-admin-keys', commit: 'cbb6d75', stores: both },
  { name: '0025-earlier-keys', commit: '10e1119', stores: both },
  { name: '0032-members', commit: 'faf7094', stores: both },
  { name: '0030-loss-index', commit: 'd932e11', stores: both },
  { name: '0026-account-telemetry', commit: '4c07f10', stores: both },
];
