// Changes when the saved card of an account is charged. Each change and its audit row are one transaction.
import { ApiError } from '../../canonical/errors.ts';
import { mailOwners } from '../../domain/alerts/endpoints.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import { type AutoTopUpRow, lockAutoTopUp } from '../../domain/billing/auto-top-ups.ts';
import type { Micros } from '../../lib/money.ts';

export type AutoTopUpSettings = {
  readonly threshold_micros: Micros;
  readonly amount_micros: Micros;
  /** At least one amount with its fee. */
  readonly ceiling_micros: Micros;
};

type Order = {
  readonly accountId: string;
  readonly userId: string;
  /** null: off. */
  readonly settings: AutoTopUpSettings | null;
  /** Whether the user has confirmed it, because it `allowsMore`. */
  readonly isConfirmed: boolean;
};

const told = ['auto_top_up.failed', 'auto_top_up.ceiling_reached'] as const;
const off = { threshold_micros: null, amount_micros: null, ceiling_micros: null };
const resumed = { paused_at_ms: null, paused_reason: null };

/**
 * Ends a pause. Throws ApiError 409 when no card is saved, or when what is unconfirmed would allow more than
 * what has become of the settings since it was judged.
 */
export function setAutoTopUp(
  changes: AuditedChanges,
  { accountId, userId, settings, isConfirmed }: Order,
): Promise<void> {
  return changes.commit(async ({ write }) => {
    const row = await lockAutoTopUp(write, accountId);
    if (settings && !row?.card_id) throw new ApiError('conflict', 'Save a card first.');
    if (settings && !isConfirmed && allowsMore(row, settings))
      throw new ApiError('conflict', 'The settings have changed meanwhile. Look at them again.');
    const after = settings ?? off;
    const before = { ...settingsOf(row), paused_reason: row?.paused_reason ?? null };
    const fields = changedFields(before, { ...after, paused_reason: null });
    if (!fields) return { change: null };
    await write
      .updateTable('auto_top_ups')
      .set({ ...after, user_id: userId, ...resumed })
      .where('account_id', '=', accountId)
      .execute();
    if (settings && before.threshold_micros === null)
      await mailOwners(write, accountId, { types: told, nowMs: changes.clock.nowMs() });
    const about = { subject: accountId, accountId };
    return { change: { action: 'auto-top-up.update', ...about, ...fields } };
  });
}

/** Returns true when the new settings can charge the card more, earlier or again. */
export function allowsMore(before: AutoTopUpRow | undefined, after: AutoTopUpSettings): boolean {
  if (!before || before.paused_at_ms !== null) return true;
  const names = ['threshold_micros', 'amount_micros', 'ceiling_micros'] as const;
  return names.some((name) => after[name] > (before[name] ?? 0));
}

/** Stores the checkout in which a card is saved; its end saves it. */
export function startCard(
  changes: AuditedChanges,
  accountId: string,
  { checkout_id }: { readonly checkout_id: string },
): Promise<void> {
  return changes.commit(async ({ write }) => {
    const after = { checkout_id };
    await write
      .insertInto('auto_top_ups')
      .values({ account_id: accountId, ...after })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(after))
      .execute();
    const about = { subject: accountId, accountId };
    return { change: { action: 'auto-top-up.start-card', ...about, after } };
  });
}

/** Returns Stripe's id of the card, to be removed there. Throws ApiError 404. */
export function removeCard(changes: AuditedChanges, accountId: string): Promise<string> {
  return changes.commit(async ({ write }) => {
    const row = await lockAutoTopUp(write, accountId);
    if (!row?.card_id) throw new ApiError('not_found', 'No card is saved.');
    const none = { checkout_id: null, card_id: null, card_brand: null, card_last4: null };
    await write
      .updateTable('auto_top_ups')
      .set({ ...off, ...none, ...resumed })
      .where('account_id', '=', accountId)
      .execute();
    const before = { brand: row.card_brand, last4: row.card_last4, ...settingsOf(row) };
    const about = { subject: accountId, accountId };
    return { result: row.card_id, change: { action: 'auto-top-up.remove-card', ...about, before } };
  });
}

function settingsOf(row: AutoTopUpRow | undefined) {
  const { threshold_micros, amount_micros, ceiling_micros } = row ?? off;
  return { threshold_micros, amount_micros, ceiling_micros };
}
