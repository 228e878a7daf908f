// A disk of a few megabytes that a test fills and frees: a tmpfs. Only root on Linux can mount it.
//
//   const disk = mountSmallDisk();           // null if not allowed: skip the test
//   disk.fill();                             // writes now fail with ENOSPC
//   disk.free();
//   disk.unmount();
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type SmallDisk = {
  readonly folder: string;
  readonly fill: () => void;
  readonly free: () => void;
  /** Call it after all its users have ended. */
  readonly unmount: () => void;
};

export const noSmallDisk = 'this user may mount no file system';

export function mountSmallDisk({ megabytes = 16 } = {}): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tollgate-test', folder], {
      stdio: 'ignore',
    });
  } catch {
    rmdirSync(folder);
    return null;
  }
  // PostgreSQL runs as another user and has its folder in it.
  chmodSync(folder, 0o711);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => fillDisk(filler),
    free: () => rmSync(filler, { force: true }),
    unmount: () => {
      // Works even if a process that failed to end still has a file open on it.
      execFileSync('umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}

export function fillDisk(filler: string): void {
  const file = openSync(filler, 'a');
  try {
    for (let bytes = 65_536; bytes >= 1;) {
      try {
        writeSync(file, Buffer.alloc(bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        bytes = Math.floor(bytes / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}
