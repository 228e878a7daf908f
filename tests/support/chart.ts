// Renders the Helm chart with the real Helm, and checks manifests with the code of the Kubernetes API
// server.
import assert from 'node:assert/strict';
import { type ExecFileException, execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from './built-program.ts';
import { installChartTools } from './chart-tools.ts';

export const chartFolder = join(root, 'deploy', 'helm', 'tollgate');
export const release = 'gateway';

export type Values = Readonly<Record<string, unknown>>;
export type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
};

/** Without the user's own clusters. */
const env = { ...process.env, KUBECONFIG: '/dev/null' };
let tools: string | null = null;

type Ended = { readonly succeeded: boolean; readonly output: string };

/** Runs a program. Returns what it printed: standard output if it succeeded, otherwise errors. */
function run(program: string, args: readonly string[], input: string): Promise<Ended> {
  return new Promise((resolve) => {
    const end = (error: ExecFileException | null, stdout: string, stderr: string) =>
      resolve({ succeeded: error === null, output: error === null ? stdout : stderr });
    tools ??= installChartTools();
    const child = execFile(join(tools, program), args, { maxBuffer: 1e8, env }, end);
    child.stdin!.end(input);
  });
}

/** Runs `helm`, with values if given. */
export function helm(args: readonly string[], values?: Values): Promise<Ended> {
  if (values === undefined) return run('helm', args, '');
  return run('helm', [...args, '--values', '-'], JSON.stringify(values));
}

/** Returns what the chart makes of the values, as text and as objects. */
export async function render(
  values: Values,
  options: readonly string[] = [],
): Promise<{ readonly text: string; readonly manifests: readonly Manifest[] }> {
  const { succeeded, output } = await helm(['template', release, chartFolder, ...options], values);
  assert.ok(succeeded, output);
  const manifests = parseAllDocuments(output)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
  return { text: output, manifests };
}

/** Returns why Helm does not render the values. */
export async function refusalOf(values: Values): Promise<string> {
  const { succeeded, output } = await helm(['template', release, chartFolder], values);
  assert.ok(!succeeded, `these values were accepted: ${JSON.stringify(values)}`);
  return output;
}

/** Returns why a Kubernetes with restricted pods would refuse the manifests, one reason each. */
export async function problemsIn(manifests: string): Promise<readonly string[]> {
  const { succeeded, output } = await run('check-manifests', [], manifests);
  assert.ok(succeeded, output);
  return output.split('\n').filter((line) => line !== '');
}

export function find(manifests: readonly Manifest[], kind: string, name = release): Manifest {
  const found = manifests.find(
    (manifest) => manifest.kind === kind && manifest.metadata.name.startsWith(name),
  );
  assert.ok(found, `no ${kind} ${name} among ${kindsOf(manifests).join(', ')}`);
  return found;
}

export function kindsOf(manifests: readonly Manifest[]): string[] {
  return manifests.map(({ kind }) => kind).toSorted();
}

/** Returns the value at a path such as `spec.template.spec.containers.0`, or undefined. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], value);
}
