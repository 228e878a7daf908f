// The names of everything that a batch of commands touches: what a store that loads all of it at once must ask for.
import { extensionId } from './book.ts';
import type { Command, LedgerId } from './commands.ts';
import type { Expire } from './core.ts';

export type Names = {
  /** Named by the commands; the ledgers of the unplaced holds come on top. */
  readonly ledgerIds: readonly LedgerId[];
  /** Of commands that do not name the ledger. */
  readonly unplacedHoldIds: readonly string[];
  /** Holds that exist already, if they do. */
  readonly holdIds: readonly string[];
  /** Under which anything may have been done before; what is said of a hold that is no longer open comes on top. */
  readonly entryIds: readonly string[];
  /** Keys that ask for a new hold, in the windows of the present. */
  readonly keyIds: readonly string[];
  /** Idempotency-Keys of settlements. */
  readonly claims: readonly ClaimName[];
};

type ClaimName = { readonly keyId: string; readonly keyDigest: string };

export function namesOf(commands: readonly (Command | Expire)[]): Names {
  const ledgerIds = new Set<LedgerId>();
  const [unplacedHoldIds, holdIds, entryIds, keyIds] = [
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
  ];
  const claims: ClaimName[] = [];
  for (const command of commands) {
    if ('ledgerId' in command) ledgerIds.add(command.ledgerId);
    else unplacedHoldIds.add(command.holdId);
    if ('entryId' in command) {
      entryIds.add(command.entryId);
      continue;
    }
    if (command.type === 'reserve') keyIds.add(command.keyId);
    else holdIds.add(command.holdId);
    // A settlement or a release of an open hold needs no more than the hold; the others are looked up in any case.
    if (command.type !== 'settle' && command.type !== 'release') entryIds.add(command.holdId);
    if (command.type === 'extend') entryIds.add(extensionId(command.holdId, command.part));
    if (command.type === 'settle' && command.stored) claims.push({ keyId: command.keyId, keyDigest: command.stored.keyDigest });
  }
  return {
    ledgerIds: [...ledgerIds],
    unplacedHoldIds: [...unplacedHoldIds],
    holdIds: [...holdIds],
    entryIds: [...entryIds],
    keyIds: [...keyIds],
    claims,
  };
}
