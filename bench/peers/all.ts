// The peers, in the order of the tables.
import type { Peer } from '../side-by-side/peer.ts';
import { gomodel } from './gomodel.ts';
import { litellm } from './litellm.ts';
import { oneApi } from './one-api.ts';
import { portkey } from './portkey.ts';
import { relay } from './relay.ts';
import { tollgatePostgres, tollgateSqlite } from './tollgate.ts';

export const peers: readonly Peer[] = [
  relay,
  tollgateSqlite,
  tollgatePostgres,
  gomodel,
  oneApi,
  portkey,
  litellm,
];
