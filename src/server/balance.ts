// `GET /v1/balance`: what the calling key's account can still spend, in the key's mode.
import { readBalance } from '../domain/ledger/reports/queries.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { floorToCents } from '../lib/money.ts';
import { keyOf, type Handler, type ServerContext } from './context.ts';

export function getBalance({ database }: ServerContext): Handler {
  return async (request) => {
    const key = keyOf(request);
    const balance = await readBalance(database.read, ledgerIdOf(key.accountId, key.mode));
    if (!balance) throw new Error(`the account ${key.accountId} has no ledger`);
    return {
      balance_cents: floorToCents(balance.availableMicros),
      total_input_tokens: balance.inputTokens,
      total_output_tokens: balance.outputTokens,
      total_tokens_used: balance.inputTokens + balance.outputTokens,
    };
  };
}
