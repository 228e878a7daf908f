// The part of a page that keeps a draft (`api/draft-store.ts`).
import { useEffect, useEffectEvent } from 'react';
import { placeOf, putDraft, savers, takeDraft } from '../api/draft-store.ts';
import { useSession } from '../api/session.ts';

/**
 * `useDraft('chat', () => text || undefined, setText);`
 * `read` returns undefined when there is nothing to keep. Never pass a password or another secret.
 */
export function useDraft<Value>(
  name: string,
  read: () => Value | undefined,
  restore: (value: Value) => void,
): void {
  const { user } = useSession();
  const place = user === null ? null : placeOf(user.id, name);
  const readNow = useEffectEvent(read);
  const restoreNow = useEffectEvent(restore);
  useEffect(() => {
    if (place === null) return;
    const value = takeDraft(place);
    if (value !== undefined) restoreNow(value as Value);
    const save = () => putDraft(place, readNow());
    savers.add(save);
    return () => void savers.delete(save);
  }, [place]);
}
