// Finds a Node that runs Tollgate. Plain JavaScript for Node 20 and later.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const minimum = [24, 15];

/**
 * Returns the Node from the packages, or the one that runs this script if none is installed for
 * this system and it is recent enough.
 * @returns {string} its path.
 * @throws {Error} if neither can be used.
 */
export function findNode() {
  const usable = [packagedNode(), process.execPath].find((path) => path && isNewEnough(path));
  if (usable) return usable;
  throw new Error(
    `no usable Node.js: Tollgate needs ${minimum.join('.')} or newer, and brings its own only on Linux with glibc (x64, arm64). ` +
      `This is ${process.version} on ${process.platform}-${process.arch}: install a newer Node.js.`,
  );
}

function packagedNode() {
  const name = `node-${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), 'bin', 'node');
  } catch {
    return null; // There is no such package, or it is not installed.
  }
}

function isNewEnough(path) {
  try {
    const [major, minor] = execFileSync(path, ['--version'], { encoding: 'utf8' })
      .slice(1)
      .split('.')
      .map(Number);
    return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
  } catch {
    return false; // Built for another C library: the file exists but does not run.
  }
}
