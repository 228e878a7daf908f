// Container images for the long suites, with Debian's programs: mmdebstrap makes a base, Buildah
// builds without a daemon, and Podman runs. No container registry is reached.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programEnv, skipWithout } from './programs.ts';
import { until } from './until.ts';

const execFileAsync = promisify(execFile);
const env = { ...programEnv, BUILDAH_ISOLATION: 'chroot' };

/** Why tests with containers are skipped; false: they run. In CI they run, and fail without. */
export const skipWithoutContainers: string | false =
  skipWithout('mmdebstrap', 'buildah', 'podman', 'runc') ||
  (!process.env['CI'] &&
    process.getuid?.() !== 0 &&
    'only root can make a base image without a registry');

export type Architecture = 'amd64' | 'arm64';

type DebianBase = {
  readonly variant: 'extract' | 'essential';
  readonly packages: readonly string[];
  readonly architecture: Architecture;
};

/** Returns an archive with Debian's packages, made once for each list of them. */
export function debianBase({ variant, packages, architecture }: DebianBase): string {
  const args = [
    '--mode=root',
    '--quiet',
    `--variant=${variant}`,
    `--architectures=${architecture}`,
    // Nothing of the other architecture is run.
    ...(variant === 'extract' ? ['--skip=check/qemu'] : []),
    `--include=${packages.join(',')}`,
    'bookworm',
  ];
  const hash = createHash('sha256').update(args.join(' ')).digest('hex').slice(0, 12);
  const archive = join(tmpdir(), `tollgate-debian-${hash}.tar`);
  if (existsSync(archive)) return archive;
  // A run that is killed must not leave half an archive under that name.
  const unfinished = `${archive}.${process.pid}.tar`;
  execFileSync('mmdebstrap', [...args, unfinished], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  renameSync(unfinished, archive);
  return archive;
}

/** Images and containers of one test file, in a folder of their own. */
export class ContainerStore {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tollgate-containers-'));

  get folder(): string {
    return this.#folder;
  }

  async buildah(...args: string[]): Promise<string> {
    return (await this.#run('buildah', args)).stdout;
  }

  async podman(...args: string[]): Promise<string> {
    return (await this.#podman(args)).stdout;
  }

  /** Everything that a container printed. */
  async output(id: string): Promise<string> {
    const { stdout, stderr } = await this.#podman(['logs', id]);
    return stdout + stderr;
  }

  /** Makes an image of archives and folders, one over the other. */
  async makeImage(
    name: string,
    contents: readonly string[],
    { variables = {}, architecture = 'amd64' }: ImageOptions = {},
  ): Promise<string> {
    const container = (await this.buildah('from', 'scratch')).trim();
    for (const content of contents) await this.buildah('add', '--quiet', container, content, '/');
    const settings = Object.entries(variables).flatMap(([key, value]) => [
      '--env',
      `${key}=${value}`,
    ]);
    await this.buildah('config', '--arch', architecture, ...settings, container);
    await this.buildah('commit', '--quiet', '--rm', container, `localhost/${name}`);
    return `localhost/${name}`;
  }

  async close(): Promise<void> {
    await this.podman('rm', '--all', '--force', '--time=0');
    await this.podman('image', 'unmount', '--all');
    // Podman's monitor of a container writes there for a moment longer.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  #podman(args: readonly string[]) {
    const place = [
      '--cgroup-manager=cgroupfs',
      '--runtime=runc',
      '--tmpdir',
      join(this.#folder, 't'),
    ];
    return this.#run('podman', [...place, ...args]);
  }

  #run(program: string, args: readonly string[]) {
    const place = ['--root', join(this.#folder, 's'), '--runroot', join(this.#folder, 'r')];
    const options = ['--storage-driver=vfs', ...place, ...args];
    return execFileAsync(program, options, { env, maxBuffer: 1e8 });
  }
}

type ImageOptions = {
  readonly variables?: Readonly<Record<string, string>>;
  readonly architecture?: Architecture;
};

/**
 * Makes an image in which `npm` runs: Debian, this process's Node, and this machine's npm with its
 * registry and its certificates.
 */
export async function makeBuildBase(store: ContainerStore): Promise<string> {
  const debian = debianBase({
    variant: 'essential',
    packages: ['libstdc++6'],
    architecture: 'amd64',
  });
  const folder = join(store.folder, 'build-base');
  const [bin, modules] = [
    join(folder, 'usr/local/bin'),
    join(folder, 'usr/local/lib/node_modules'),
  ];
  mkdirSync(bin, { recursive: true });
  cpSync(process.execPath, join(bin, 'node'), { dereference: true });
  cpSync(join(npmSays('root', '--global'), 'npm'), join(modules, 'npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'));
  const variables: Record<string, string> = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    npm_config_registry: npmSays('config', 'get', 'registry'),
  };
  const authorities = process.env['NODE_EXTRA_CA_CERTS'];
  if (authorities) {
    variables['NODE_EXTRA_CA_CERTS'] = '/etc/extra-authorities.pem';
    mkdirSync(join(folder, 'etc'));
    cpSync(authorities, join(folder, variables['NODE_EXTRA_CA_CERTS']), { dereference: true });
  }
  return store.makeImage('build-base', [debian, folder], { variables });
}

/** Returns the folder in which this machine's npm keeps packages. */
export function npmCache(): string {
  return npmSays('config', 'get', 'cache');
}

function npmSays(...args: string[]): string {
  return execFileSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

export type ContainerOptions = {
  /** Default: the image's own. */
  readonly command?: readonly string[];
  /** A volume's name, for the image's `/data`. Default: a new one. */
  readonly volume?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** Files of this machine, by the path at which the container reads them. */
  readonly files?: Readonly<Record<string, string>>;
  /** Default: the container has a loopback of its own and reaches nothing else. */
  readonly hasHostNetwork?: boolean;
};

/**
 * A running container with as few rights as there can be: a read-only root, no capabilities, no new
 * privileges, Podman's system call filter.
 */
export class Container {
  readonly id: string;
  readonly #store: ContainerStore;

  constructor(store: ContainerStore, id: string) {
    this.#store = store;
    this.id = id;
  }

  static async start(
    store: ContainerStore,
    image: string,
    { command = [], volume, variables = {}, files = {}, hasHostNetwork = false }: ContainerOptions,
  ): Promise<Container> {
    const options = [
      ...(volume === undefined ? [] : ['--volume', `${volume}:/data`]),
      ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...Object.entries(files).flatMap(([path, file]) => ['--volume', `${file}:${path}:ro`]),
    ];
    const id = await store.podman(
      'run',
      '--detach',
      '--pull=never',
      '--read-only',
      '--read-only-tmpfs=false',
      '--cap-drop=all',
      '--security-opt=no-new-privileges',
      `--network=${hasHostNetwork ? 'host' : 'none'}`,
      '--log-driver=k8s-file',
      // Podman asks for more than root may have in a virtual machine.
      '--ulimit=nofile=4096:4096',
      '--ulimit=nproc=4096:4096',
      ...options,
      image,
      ...command,
    );
    return new Container(store, id.trim());
  }

  /** Everything printed so far. */
  async output(): Promise<string> {
    return this.#store.output(this.id);
  }

  /** Waits until the output matches. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    return until(async () => {
      const hasEnded = (await this.state()) === 'exited';
      const output = await this.output();
      const found = pattern.exec(output);
      assert.ok(found !== null || !hasEnded, `the container ended:\n${output}`);
      return found;
    }, 120_000);
  }

  async state(): Promise<string> {
    return (await this.#store.podman('inspect', '--format={{.State.Status}}', this.id)).trim();
  }

  /** The process's id on this machine. */
  async pid(): Promise<number> {
    return Number(await this.#store.podman('inspect', '--format={{.State.Pid}}', this.id));
  }

  /** Runs a program in the container. */
  async exec(...command: string[]): Promise<string> {
    return this.#store.podman('exec', this.id, ...command);
  }

  /** Runs the image's health check once. */
  async isHealthy(): Promise<boolean> {
    return this.#store.podman('healthcheck', 'run', this.id).then(
      () => true,
      () => false,
    );
  }

  async signal(name: string): Promise<void> {
    await this.#store.podman('kill', `--signal=${name}`, this.id);
  }

  /** Sends the image's stop signal. Returns the exit code. */
  async stop(): Promise<number> {
    await this.#store.podman('stop', '--time=120', this.id);
    return Number(await this.#store.podman('wait', this.id));
  }

  async remove(): Promise<void> {
    await this.#store.podman('rm', '--force', '--time=0', this.id);
  }
}
