// Tracks who waits for an answer: the client, and requests that will read it where it is stored.
import type { Client } from './client.ts';

export type Audience = {
  readonly client: Pick<Client, 'isGone' | 'onGone'>;
  /**
   * Where a success is stored. While somebody may read it there, the request runs on without its
   * client.
   */
  readonly storage: {
    readonly isAwaited: boolean;
    readonly onUnawaited: (callback: () => void) => void;
  };
};

export function isAwaited({ client, storage }: Audience): boolean {
  return !client.isGone() || storage.isAwaited;
}

/** Calls back whenever somebody left and nobody waits any more; at once when that is already so. */
export function onAbandoned(audience: Audience, callback: () => void): void {
  const check = () => isAwaited(audience) || callback();
  audience.client.onGone(check);
  audience.storage.onUnawaited(check);
}

/** Returns `complete` while somebody waits for the answer, even when its own client has left. */
export function endingOf(audience: Audience): 'complete' | 'cut-off' {
  return isAwaited(audience) ? 'complete' : 'cut-off';
}
