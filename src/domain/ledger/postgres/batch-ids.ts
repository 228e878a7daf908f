// The ids of everything that a batch of commands touches, so that a store can load all of it at
// once.
import { extensionId, memberKey } from '../book.ts';
import type { Command, LedgerId } from '../commands.ts';
import type { Expire } from '../core.ts';

export type BatchIds = {
  /** Ledgers named by the commands; those of `holdIdsWithoutLedger` are added later. */
  readonly ledgerIds: readonly LedgerId[];
  /** Holds of commands that do not name the ledger. */
  readonly holdIdsWithoutLedger: readonly string[];
  /** Holds that should exist already. */
  readonly holdIds: readonly string[];
  /** Ids of possible earlier entries; entries of ended holds are added later. */
  readonly entryIds: readonly string[];
  /** Keys that place a new hold, in the current windows. */
  readonly keyIds: readonly string[];
  /** Idempotency-Keys of settlements. */
  readonly claims: readonly ClaimName[];
  /** Members whose budgets the commands name. */
  readonly members: readonly MemberName[];
};

type MemberName = { readonly ledgerId: LedgerId; readonly memberId: string };
type ClaimName = { readonly keyId: string; readonly keyDigest: string };

export function batchIdsOf(commands: readonly (Command | Expire)[]): BatchIds {
  const ledgerIds = new Set<LedgerId>();
  const [holdIdsWithoutLedger, holdIds, entryIds, keyIds] = [
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
  ];
  const claims: ClaimName[] = [];
  const members = new Map<string, MemberName>();
  for (const command of commands) {
    if ('ledgerId' in command) ledgerIds.add(command.ledgerId);
    else holdIdsWithoutLedger.add(command.holdId);
    if ('entryId' in command) {
      entryIds.add(command.entryId);
      continue;
    }
    if ('budget' in command && command.budget) {
      const name = { ledgerId: command.ledgerId, memberId: command.budget.memberId };
      members.set(memberKey(name.ledgerId, name.memberId), name);
    }
    if (command.type === 'reserve') keyIds.add(command.keyId);
    else holdIds.add(command.holdId);
    // A settlement or release of an open hold needs only the hold; the other commands need the
    // journal in any case.
    if (command.type !== 'settle' && command.type !== 'release') entryIds.add(command.holdId);
    if (command.type === 'extend') entryIds.add(extensionId(command.holdId, command.part));
    if (command.type === 'settle' && command.stored)
      claims.push({ keyId: command.keyId, keyDigest: command.stored.keyDigest });
  }
  return {
    ledgerIds: [...ledgerIds],
    holdIdsWithoutLedger: [...holdIdsWithoutLedger],
    holdIds: [...holdIds],
    entryIds: [...entryIds],
    keyIds: [...keyIds],
    claims,
    members: [...members.values()],
  };
}
