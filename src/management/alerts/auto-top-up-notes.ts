// Records what Tollgate does with saved cards, and tells owners what they should act on.
import { recordChange } from '../../domain/audit/audit-log.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { writeEvent, writeNewEvents } from '../../domain/alerts/outbox.ts';
import type { AutoTopUpNote, NoteAutoTopUp } from '../../domain/billing/auto-top-ups.ts';
import type { Clock } from '../../lib/clock.ts';

/** Returns what writes the audit row and the event of each, in the transaction that decides on it. */
export function autoTopUpNotes(clock: Clock): NoteAutoTopUp {
  return async (write, note) => {
    const { accountId } = note;
    const nowMs = clock.nowMs();
    const change = changeOf(note);
    const actor = { kind: 'service', ...actorOf(note), address: null } as const;
    if (change) await recordChange(write, { actor, change, accountId }, nowMs);
    if (note.kind !== 'fail' && note.kind !== 'ceiling') return;
    const [account] = await findAccounts(write, [accountId]);
    const about = { account_id: accountId, account_name: account!.name };
    if (note.kind === 'fail') {
      const { topUp, problem: reason } = note;
      const data = { ...about, top_up_id: topUp.id, amount_micros: topUp.amount_micros, reason };
      await writeEvent(
        write,
        { type: 'auto_top_up.failed', data, accountId, onceKey: null },
        nowMs,
      );
      return;
    }
    const { ceilingMicros: ceiling_micros, month } = note;
    const onceKey = `auto top-up ceiling ${accountId} ${month} ${ceiling_micros}`;
    const data = { ...about, ceiling_micros, month };
    const event = { type: 'auto_top_up.ceiling_reached', data, accountId, onceKey } as const;
    await writeNewEvents({ read: write, write }, [event], nowMs);
  };
}

function actorOf({ kind }: AutoTopUpNote) {
  if (kind === 'card') return { id: 'stripe', name: 'Stripe' };
  return { id: 'auto-top-up', name: 'Automatic top-up' };
}

function changeOf(note: AutoTopUpNote) {
  const before = null;
  switch (note.kind) {
    case 'card':
      return {
        action: 'auto-top-up.save-card',
        subject: note.accountId,
        before,
        after: note.card,
      } as const;
    case 'start': {
      const { id: subject, amount_micros, fee_micros } = note.topUp;
      const after = { amount_micros, ...(fee_micros > 0 && { fee_micros }) };
      return { action: 'top-up.start', subject, before, after } as const;
    }
    case 'fail': {
      const after = { top_up_id: note.topUp.id, problem: note.problem };
      return { action: 'auto-top-up.pause', subject: note.accountId, before, after } as const;
    }
    case 'ceiling':
      return null;
  }
}
