// Runs the measurement in namespaces of its own (Linux, `unshare`): a network that has only the
// loopback interface, so no peer can phone home or be reached, and a process namespace, so every
// peer ends with the bench.
import { spawnSync } from 'node:child_process';

const namespaces = ['--net', '--pid', '--fork', '--mount-proc', '--kill-child'];
/** Without root, a user namespace gives the right to make the others. */
const asUser = ['--user', '--map-current-user', '--keep-caps'];
const loopbackUp = 'ip link set lo up && "$@"';

/** Returns the command's exit code. Throws if the machine cannot isolate it. */
export function runIsolated(command: readonly string[]): number {
  const isRoot = process.getuid?.() === 0;
  const unshare = ['unshare', ...(isRoot ? [] : asUser), ...namespaces, 'sh', '-c', loopbackUp];
  const probe = spawnSync(unshare[0]!, [...unshare.slice(1), 'sh', 'true'], { encoding: 'utf8' });
  if (probe.status !== 0)
    throw new Error(
      `the bench cannot isolate the peers, which needs Linux, unshare and ip: ${probe.stderr ?? probe.error}`,
    );
  const { status } = spawnSync(unshare[0]!, [...unshare.slice(1), 'sh', ...command], {
    stdio: 'inherit',
  });
  return status ?? 1;
}
