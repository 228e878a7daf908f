// Debian's programs that the long suites run beside the gateway, such as HAProxy.
import { spawnSync } from 'node:child_process';

/** Debian's folder for administrators is not in every user's PATH. */
export const programEnv: Readonly<NodeJS.ProcessEnv> = {
  ...process.env,
  PATH: `${process.env['PATH'] ?? ''}:/usr/sbin`,
};

/** Why a test is skipped: programs are missing; false: it runs. In CI it runs, and fails without. */
export function skipWithout(...names: string[]): string | false {
  if (process.env['CI']) return false;
  const isAbsent = (name: string) => spawnSync('which', [name], { env: programEnv }).status !== 0;
  const absent = names.filter(isAbsent);
  return absent.length > 0 && `these programs are missing: ${absent.join(', ')}`;
}
