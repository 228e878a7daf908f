// Keeps what a user has typed when the page is left for the sign-in page, or reloaded. A draft is
// of one user and one page, lies in this tab's storage, and is taken out when the page shows again.

const prefix = 'tollgate.draft ';
/** Write the drafts of the page, each its own. */
export const savers = new Set<() => void>();
let areKept = true;

/** Saves the drafts when the page goes away, for whatever reason. */
export function keepDrafts(): void {
  addEventListener('pagehide', () => {
    if (areKept) savers.forEach((save) => save());
  });
}

/** For signing out: removes all drafts, and keeps no new ones. */
export function discardDrafts(): void {
  areKept = false;
  try {
    for (const name of Object.keys(sessionStorage))
      if (name.startsWith(prefix)) sessionStorage.removeItem(name);
  } catch {
    // The browser forbids storage, so there are none.
  }
}

/** Returns undefined when there is none. */
export function takeDraft(place: string): unknown {
  try {
    const text = sessionStorage.getItem(place);
    sessionStorage.removeItem(place);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function putDraft(place: string, value: unknown): void {
  try {
    if (value !== undefined) sessionStorage.setItem(place, JSON.stringify(value));
  } catch {
    // The browser forbids storage, or it is full.
  }
}

export function placeOf(userId: string, name: string): string {
  return `${prefix}${userId} ${location.pathname} ${name}`;
}
