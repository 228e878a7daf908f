// `tollgate requests show`: what became of one request of any account.
import { errorKinds } from '../canonical/errors.ts';
import { totalInputTokens } from '../canonical/usage.ts';
import { findAccounts } from '../domain/accounts/manage-accounts.ts';
import { findAccountOf, findLogged } from '../domain/activity/queries.ts';
import { readKeyNames } from '../domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { listCharges } from '../domain/ledger/reports/queries.ts';
import { modes } from '../terms/mode.ts';
import { withInstallation } from './installation.ts';
import { CommandFailed, formatTable, printResult, type JsonOption } from './output.ts';

export async function showRequestCommand(id: string, options: JsonOption): Promise<void> {
  await withInstallation(
    'requests show',
    async ({ database }) => {
      const { read } = database;
      const accountId = await findAccountOf(read, id);
      if (accountId === null)
        throw new CommandFailed(
          `there is no request ${id}, or it was not charged and its history was removed`,
        );
      const [account] = await findAccounts(database, [accountId]);
      const logged = (await findLogged(read, { accountId, requestIds: [id] })).get(id) ?? null;
      const pages = await Promise.all(
        modes.map((mode) => {
          const query = { ledgerId: ledgerIdOf(accountId, mode), limit: 1, cursor: null };
          return listCharges(read, { ...query, holdId: id });
        }),
      );
      const at = pages.findIndex(({ charges }) => charges.length > 0);
      const charge = pages[at]?.charges[0] ?? null;
      const known = charge ?? logged;
      if (!known) throw new CommandFailed(`the request ${id} still runs, or was never answered`);
      const keyNames = await readKeyNames(database, [known.keyId]);
      const code = logged?.code ?? null;
      const tries = logged?.notes.tries ?? [];
      const shown = {
        request_id: id,
        created_at: new Date(known.createdAtMs).toISOString(),
        account: { id: accountId, name: account?.name ?? '' },
        key: { id: known.keyId, name: keyNames.get(known.keyId) ?? '' },
        mode: logged?.mode ?? modes[at]!,
        model: known.modelId || null,
        endpoint: logged?.path ?? charge!.endpoint,
        outcome: charge ? charge.ending : logged!.outcome,
        error: code,
        message: logged?.notes.errorMessage ?? null,
        provider: charge?.provider ?? null,
        input_tokens: charge ? totalInputTokens(charge.usage) : logged!.inputTokens,
        output_tokens: (charge?.usage ?? logged!).outputTokens,
        charged_micros: charge?.costMicros ?? 0,
        cost_micros: charge?.upstreamCostMicros ?? 0,
        duration_ms: known.durationMs,
        tries,
      };
      const remedies = errorKinds as Readonly<Record<string, { readonly remedy: string }>>;
      const remedy = code === null ? null : (remedies[code]?.remedy ?? null);
      const rows = Object.entries({ ...shown, remedy }).map(([name, value]) => [
        name.replaceAll('_', ' '),
        typeof value === 'object' ? JSON.stringify(value) : String(value),
      ]);
      printResult(options, shown, formatTable(['field', 'value'], rows));
    },
    { needsBooks: true },
  );
}
