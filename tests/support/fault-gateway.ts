// A gateway with short timeouts in front of the fault server, with a model for each host.
import { clients, type Client } from './endpoints.ts';
import { faults } from './faults.ts';
import { startFaultServer, type FaultServer } from './fault-server.ts';
import {
  metricsToken,
  startGateway,
  startGatewayProgram,
  type GatewayConfig,
  type TestGateway,
} from './gateway.ts';
import { hostProviders, modelHosts, type HostName, type ModelHost } from './model-hosts.ts';
import type { Installation, InstallationOptions } from './installation.ts';
import type { Program } from './program.ts';
import type { RunningApp } from './running-app.ts';
import { taskSamples, type TaskType } from './task-samples.ts';
import { TestClock } from './test-clock.ts';
import { modelLimits } from './usage-faults.ts';

export type FaultPair = {
  readonly name: string;
  readonly client: Client;
  readonly host: ModelHost;
  readonly straight: boolean;
};

export const faultPairs: readonly FaultPair[] = clients.flatMap((client) =>
  modelHosts.map((host) => ({
    name: `${client.name} on ${host.name}`,
    client,
    host,
    straight: client.name === host.wire,
  })),
);

/** USD per million tokens, which equals microdollars per token. */
export const faultPrices = { input: 3, output: 15, cache_read: 0.5 };

/**
 * Models for refused connections: a request cannot cause one, so they use a port without a
 * listener.
 */
export function faultModel(host: HostName | TaskType, isRefused = false): string {
  return `${isRefused ? 'refused' : 'faulty'}-${host}`;
}

/**
 * An answer ends after `silenceMs` of silence, or `totalMs` in total. Connecting takes real time,
 * which tests do not wait for.
 */
const faultTimeouts = { connectMs: 60_000, silenceMs: 2_000, totalMs: 4_000 };

export type FaultGateway<Started extends Installation = Installation> = {
  readonly gateway: TestGateway<Started>;
  readonly server: FaultServer;
  readonly stop: () => Promise<void>;
};

/** Runs in this process. Its clock moves while every open request waits for a silent upstream. */
export function startFaultGateway(config: object = {}): Promise<FaultGateway<RunningApp>> {
  const clock = new TestClock();
  return startWith((whole) => startGateway(whole, { clock }), config, clock);
}

/** Runs as a separate process, for tests that measure it. */
export function startFaultProgram(
  config: object,
  env: InstallationOptions['env'],
): Promise<FaultGateway<Program>> {
  return startWith((whole) => startGatewayProgram(whole, { env }), config);
}

async function startWith<Started extends Installation>(
  start: (config: GatewayConfig) => Promise<TestGateway<Started>>,
  config: object,
  clock?: TestClock,
): Promise<FaultGateway<Started>> {
  const plays = new Map(faults.flatMap(({ name, play }) => (play ? [[name, play] as const] : [])));
  const server = await startFaultServer(plays, clock);
  const gateway = await start({
    providers: { ...providersAt(server.url, ''), ...providersAt(closedUrl, 'refused-') },
    models: Object.fromEntries([
      ...modelHosts.flatMap((host) => [
        [faultModel(host.name), modelOf(host, '')],
        [faultModel(host.name, true), modelOf(host, 'refused-')],
      ]),
      ...taskSamples.flatMap(({ type, prices }) =>
        [false, true].map((isRefused) => {
          // Its speech is JSON, not a stream.
          const provider = type === 'speech' ? 'mistral' : 'tasks';
          const name = isRefused ? `refused-${provider}` : provider;
          const routes = [{ provider: name, model: 'upstream-model' }];
          return [faultModel(type, isRefused), { type, prices, routes }];
        }),
      ),
    ]),
    metrics: { token: metricsToken },
    ...config,
  });
  return {
    gateway,
    server,
    stop: async () => {
      await server.close();
      await gateway.stop();
    },
  };
}

function modelOf({ route: { provider, ...route } }: ModelHost, prefix: string): object {
  return {
    routes: [{ ...route, provider: prefix + provider, model: 'upstream-model' }],
    context_tokens: modelLimits.input,
    max_input_tokens: modelLimits.input,
    max_output_tokens: modelLimits.output,
    prices: faultPrices,
  };
}

/**
 * Differs from every other text of the tests, contains characters that URLs escape, and has no
 * provider's usual shape.
 */
export const providerKeyCore = 'k3y/of=the~operator';
const providerKey = `sk-provider+${providerKeyCore}-0123456789`;

function providersAt(url: string, prefix: string): object {
  const common = {
    api_key: providerKey,
    timeouts: {
      connect_ms: faultTimeouts.connectMs,
      first_byte_ms: faultTimeouts.silenceMs,
      idle_ms: faultTimeouts.silenceMs,
      total_ms: faultTimeouts.totalMs,
    },
  };
  const taskHosts = { kind: 'openai-compatible', base_url: `${url}/v1`, ...common };
  const hosts = { ...hostProviders(url, common), tasks: taskHosts, mistral: taskHosts };
  const named = Object.entries(hosts);
  return Object.fromEntries(named.map(([name, provider]) => [prefix + name, provider]));
}

/** A port that never has a listener. A free port could belong to another test a moment later. */
const closedUrl = 'http://127.0.0.1:1';
