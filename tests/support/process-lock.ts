// Lets one process at a time do something, such as an installation that others wait for.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const waitMs = 250;

/** Waits until no other living process holds the file `path`, and holds it during the action. */
export function withProcessLock<Result>(path: string, action: () => Result): Result {
  while (!take(path)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
  try {
    return action();
  } finally {
    rmSync(path, { force: true });
  }
}

function take(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!isHeld(path)) rmSync(path, { force: true });
    return false;
  }
}

/** Returns false if the process that holds the file was killed. */
function isHeld(path: string): boolean {
  try {
    const holder = Number(readFileSync(path, 'utf8'));
    // Its number is written right after the file was made.
    if (holder > 0) process.kill(holder, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
