// The steps of an operator's first hour that the database shows as done. Each is one row that exists.
import { sql } from 'kysely';
import type { Db } from '../../db/schema.ts';
import { zeroMicros } from '../../lib/money.ts';

export async function readSetUp(db: Db, nowMs: number) {
  const live = db.selectFrom('ledgers').where('mode', '=', 'live');
  const charged = live.innerJoin('charge_days', 'charge_days.ledger_id', 'ledgers.id');
  const one = sql<number>`1`.as('one');
  const [key, balance, charge, user, invitation] = await Promise.all([
    db
      .selectFrom('api_keys')
      .select(one)
      .where('mode', '=', 'live')
      .where('revoked_at_ms', 'is', null)
      .limit(1)
      .executeTakeFirst(),
    live.select(one).where('posted_micros', '>', zeroMicros).limit(1).executeTakeFirst(),
    charged.select(one).limit(1).executeTakeFirst(),
    db.selectFrom('users').select(one).offset(1).limit(1).executeTakeFirst(),
    db
      .selectFrom('invitations')
      .select(one)
      .where('expires_at_ms', '>', nowMs)
      .limit(1)
      .executeTakeFirst(),
  ]);
  return {
    live_key: key !== undefined,
    balance: balance !== undefined || charge !== undefined,
    live_request: charge !== undefined,
    invited: user !== undefined || invitation !== undefined,
  };
}
