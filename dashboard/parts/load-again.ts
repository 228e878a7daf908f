// Loads files of the app when they are needed, also while the gateway restarts.
import { noteLost, untilAnswered } from '../api/connection.ts';

/** A file of the app did not load, though the gateway answers. Reloading the page helps. */
export class MissingFileError extends Error {
  override readonly name = 'MissingFileError';
}

/**
 * `lazy(loadAgain(() => import('./calendar.tsx')))`: when the file does not load, waits until the
 * gateway answers and tries once more. Throws MissingFileError when that fails too: the file belongs
 * to an older version, or the browser remembers the failure, as Chromium does.
 */
export function loadAgain<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return async () => {
    try {
      return await load();
    } catch {
      noteLost();
      await untilAnswered();
    }
    try {
      return await load();
    } catch (cause) {
      throw new MissingFileError('A file of the dashboard could not be loaded.', { cause });
    }
  };
}

const reloadedName = 'tollgate.reloaded';
const reloadsApartMs = 30_000;

/** Returns false when the page was reloaded for a missing file a moment ago. */
export function mayReload(): boolean {
  try {
    return Date.now() - Number(sessionStorage.getItem(reloadedName)) > reloadsApartMs;
  } catch {
    // Without storage, reloading could go on for ever.
    return false;
  }
}

export function reload(): void {
  sessionStorage.setItem(reloadedName, String(Date.now()));
  location.reload();
}
