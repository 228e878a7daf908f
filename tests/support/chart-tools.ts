// Builds Helm and `check-manifests` with Go, which comes as a Python package. Done once for each
// content of the files that it depends on.
import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './built-program.ts';
import { goEnv } from './go.ts';
import { installPython } from './python.ts';

const source = join(root, 'tests', 'volume', 'chart');
/** A Helm that is not told which Kubernetes it was made for believes that it is 1.20. */
const kubernetes = { Major: 1, Minor: 37 };

/** Returns the folder with the two programs. Takes two minutes the first time. */
export function installChartTools(): string {
  const goModule = join(source, 'go');
  const files = ['go.mod', 'go.sum', 'main.go'].map((name) => join(goModule, name));
  const folder = installPython(join(source, 'requirements.txt'), {
    more: [...files, import.meta.filename],
    finish: (environment) => {
      const copy = join(environment, 'go');
      cpSync(goModule, copy, { recursive: true });
      build(environment, 'helm', 'helm.sh/helm/v3/cmd/helm');
      build(environment, 'check-manifests', '.');
    },
  });
  return join(folder, 'bin');
}

function build(environment: string, program: string, package_: string): void {
  const versions = Object.entries(kubernetes).flatMap(([part, number]) =>
    ['pkg/chartutil', 'pkg/lint/rules'].map(
      (place) => `-X helm.sh/helm/v3/${place}.k8sVersion${part}=${number}`,
    ),
  );
  const bin = join(environment, 'bin');
  const options = ['-C', join(environment, 'go'), '-o', join(bin, program)];
  const args = ['build', ...options, `-ldflags=-s -w ${versions.join(' ')}`, package_];
  execFileSync(join(bin, 'go'), args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...goEnv, GOTOOLCHAIN: 'local' },
  });
}
