// Writes the files of a release into a folder: the npm package, the sources, a list of all packages
// that are in them (SBOM, CycloneDX), and the checksums. Two builds of a commit are the same, byte
// for byte: no file has the time, the folder or the user of the build.
//   node scripts/build-release.mjs <folder>
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const root = join(import.meta.dirname, '..');
if (!process.argv[2]) fail('name the folder for the files.');
const folder = resolve(process.argv[2]);
const changes = run('git', ['status', '--porcelain']).toString();
if (changes !== '') fail(`the tree has changes that no commit holds:\n${changes.trimEnd()}`);

const { name, version } = readJson('package.json');
const title = `${name}-${version}`;
// Modes of files in the package follow it.
process.umask(0o022);
mkdirSync(folder, { recursive: true });
// Without its scripts, which a user's settings may switch off, npm would pack an old build or none.
run('npm', ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', folder]);
const archive = ['-c', 'tar.umask=0022', 'archive', '--format=tar'];
const sources = run('git', [...archive, `--prefix=${title}/`, 'HEAD']);
writeFileSync(join(folder, `${title}-source.tar.gz`), gzipSync(sources, { level: 9 }));
writeFileSync(
  join(folder, `${title}.cdx.json`),
  `${JSON.stringify(billOfMaterials(), undefined, 2)}\n`,
);
const files = [`${title}-source.tar.gz`, `${title}.cdx.json`, `${title}.tgz`];
const sums = files.map((file) => {
  const content = readFileSync(join(folder, file));
  return `${createHash('sha256').update(content).digest('hex')}  ${file}\n`;
});
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));

/**
 * npm's list without the packages that only tests need. `--omit=dev` would also leave out those
 * that tests share with the server.
 */
function billOfMaterials() {
  const list = JSON.parse(
    run('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--loglevel=error']),
  );
  const { packages } = readJson('package-lock.json');
  const shipped = new Set(
    Object.entries(packages)
      .filter(([path, { dev }]) => path !== '' && !dev)
      .map(([path, entry]) => `${entry.name ?? nameAt(path)}@${entry.version}`),
  );
  const isShipped = (reference) => shipped.has(reference);
  const { metadata, components, dependencies } = list;
  const self = metadata.component['bom-ref'];
  return {
    ...list,
    // npm makes a new one each time; the standard does not ask for it.
    serialNumber: undefined,
    metadata: {
      ...metadata,
      timestamp: run('git', ['log', '-1', '--format=%cI']).toString().trim(),
      component: { ...metadata.component, name },
    },
    components: components.filter((component) => isShipped(component['bom-ref'])),
    dependencies: dependencies
      .filter(({ ref }) => ref === self || isShipped(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isShipped) })),
  };
}

function nameAt(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

function run(command, args) {
  return execFileSync(command, args, {
    cwd: root,
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 2],
  });
}

function fail(message) {
  console.error(`Tollgate: ${message}`);
  process.exit(1);
}
