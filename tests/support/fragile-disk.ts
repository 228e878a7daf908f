// An ext4 file system on a loop device that a test can break. Only root on Linux can mount it.
//
//   const disk = mountFragileDisk();         // null if not allowed: skip the test
//   disk.breakDown();                        // read-only until it is mounted again
//   … end all that uses it …
//   disk.repair();
//   disk.unmount();
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fillDisk } from './small-disk.ts';

export type FragileDisk = {
  readonly folder: string;
  readonly breakDown: () => void;
  /**
   * From now on, writes to blocks never written before fail, including those of the file system's
   * journal. Other writes reach the disk.
   */
  readonly refuseNewBlocks: () => void;
  /**
   * Makes a file refuse writes, also through open descriptors, until the returned function is
   * called.
   */
  readonly refuseWrites: (file: string) => () => void;
  /** Checks the file system and mounts it again. Call it after all its users have ended. */
  readonly repair: () => void;
  readonly unmount: () => void;
};

const megabytes = 64;

export function mountFragileDisk(): FragileDisk | null {
  const place = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  const [folder, filler] = [join(place, 'mounted'), join(place, 'filler')];
  let image = join(place, 'image');
  const device = () => run('findmnt', '--noheadings', '--output', 'SOURCE', folder).trim();
  const mount = () => run('mount', '-o', 'loop,errors=remount-ro', image, folder);
  try {
    // The image is sparse: blocks not written yet need room that a full disk does not have.
    run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tollgate-test', place);
    writeFileSync(image, '');
    truncateSync(image, megabytes * 1_048_576);
    mkdirSync(folder);
    run('mkfs.ext4', '-q', image);
    mount();
  } catch {
    run('umount', '--lazy', '--quiet', place);
    rmdirSync(place);
    return null;
  }
  return {
    folder,
    breakDown: () => {
      writeFileSync(`/sys/fs/ext4/${basename(device())}/trigger_fs_error`, '1');
    },
    refuseNewBlocks: () => fillDisk(filler),
    refuseWrites: (file) => {
      run('chattr', '+i', file);
      return () => run('chattr', '-i', file);
    },
    repair: () => {
      const broken = device();
      run('umount', folder);
      rmSync(filler, { force: true });
      // A container that another test started meanwhile keeps the broken file system mounted for
      // itself, and the same image would be mounted in the same state. So a copy is repaired.
      run('sh', '-c', 'blockdev --flushbufs "$0" || true', broken);
      const copy = `${image}-repaired`;
      run('cp', '--sparse=always', image, copy);
      rmSync(image);
      image = copy;
      // Exit code 1: errors were corrected.
      run('sh', '-c', 'e2fsck -fy "$0" || [ $? -eq 1 ]', image);
      mount();
    },
    unmount: () => {
      run('umount', '--lazy', folder);
      run('umount', '--lazy', place);
      rmdirSync(place);
    },
  };
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
