// The configuration that the chart renders: without secrets, and one with which the gateway starts.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config/load.ts';
import { root } from '../../support/built-program.ts';
import {
  at,
  chartFolder,
  find,
  type Manifest,
  refusalOf,
  render,
  type Values,
} from '../../support/chart.ts';
import { createDatabase } from '../../support/postgres.ts';
import { startProgram } from '../../support/program.ts';
import { skipWithoutPython as skip } from '../../support/python.ts';

const several = parse(
  readFileSync(join(import.meta.dirname, 'values', 'several-gateways.yaml'), 'utf8'),
) as Values;

/** What the Secrets of `several-gateways.yaml` would hold. */
const secrets: Readonly<Record<string, string>> = {
  TOLLGATE_SECRET: 'the secret that all gateways of this test share',
  TOLLGATE_SECRETS_ACCEPTED: 'the secret that all gateways had before',
  METRICS_TOKEN: 'the token of the metrics',
  SMTP_URL: 'smtps://user:password@mail.example.com:465',
  STRIPE_SECRET_KEY: 'sk_test_0123456789',
  STRIPE_WEBHOOK_SECRET: 'whsec_0123456789',
  OIDC_CLIENT_SECRET: 'the-secret-of-the-client',
};
/** What its Secrets in `existingSecrets.environment` would hold. */
const environment: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: 'sk-0123456789',
  AWS_ACCESS_KEY_ID: 'AKIA0123456789',
  AWS_SECRET_ACCESS_KEY: '0123456789',
};

type Variable = { readonly name: string; readonly value?: string };

/** Returns the container's environment, with its Secrets. */
function environmentOf(workload: Manifest): Record<string, string> {
  const variables = at(workload, 'spec.template.spec.containers.0.env') as readonly Variable[];
  const own = variables.map(({ name, value }) => [name, value ?? secrets[name]]);
  return { ...environment, ...Object.fromEntries(own) };
}

/** Runs `action` with the path of a file that holds the rendered configuration. */
async function withFile(
  manifests: readonly Manifest[],
  action: (path: string) => void | Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
  try {
    const path = join(folder, 'tollgate.yaml');
    const text = at(find(manifests, 'ConfigMap'), 'data') as Record<string, string>;
    writeFileSync(path, text['tollgate.yaml']!);
    await action(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the gateway reads the rendered file as it was written in the values', { skip }, async () => {
  const { manifests } = await render(several);
  const address = 'postgres://user:password@host/database';
  await withFile(manifests, (path) => {
    const env = {
      ...environmentOf(find(manifests, 'Deployment')),
      TOLLGATE_CONFIG: path,
      DATABASE_URL: address,
    };
    const config = loadConfig({ env, cwd: root });
    assert.equal(config.server.host, '0.0.0.0');
    assert.equal(config.server.port, 4000);
    assert.equal(config.server.threads, 2);
    assert.equal(config.server.body_limit_bytes, 33_554_432);
    assert.equal(config.cache.disk_bytes, 1_099_511_627_776);
    assert.equal(config.pricing.markup, 1.000001);
    assert.equal(config.models['house-model']!.display_name, 'House: model #1');
    assert.equal(config.dataDir, '/data');
    assert.equal(config.database.url, address);
    assert.equal(config.metrics.token, secrets['METRICS_TOKEN']);
    assert.equal(config.stripe?.secret_key, secrets['STRIPE_SECRET_KEY']);
    assert.equal(config.stripe?.webhook_secret, secrets['STRIPE_WEBHOOK_SECRET']);
    assert.equal(config.oidc?.client_secret, secrets['OIDC_CLIENT_SECRET']);
    assert.equal(config.smtp?.url, secrets['SMTP_URL']);
    assert.equal(config.providers['openai']!.api_key, environment['OPENAI_API_KEY']);
  });
});

test(
  'a gateway starts with what the chart renders, and answers its probes and the scrape',
  { skip },
  async () => {
    const { manifests } = await render({
      ...several,
      // Sign-in and buckets would be looked up in the internet.
      config: { providers: { openai: { api_key: '${OPENAI_API_KEY}' } } },
      existingSecrets: {
        ...(several['existingSecrets'] as object),
        smtp: { name: '' },
        oidc: { name: '' },
        stripe: { name: '' },
      },
    });
    const deployment = find(manifests, 'Deployment');
    await withFile(manifests, async (path) => {
      const { TOLLGATE_DATA_DIR: _, HOST, ...variables } = environmentOf(deployment);
      assert.equal(HOST, '0.0.0.0');
      const databaseUrl = await createDatabase();
      const program = await startProgram({
        databaseUrl,
        env: { ...variables, DATABASE_URL: databaseUrl, TOLLGATE_CONFIG: path, PORT: '0' },
      });
      const container = 'spec.template.spec.containers.0';
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        const address = at(deployment, `${container}.${probe}.httpGet.path`) as string;
        assert.equal((await fetch(`${program.url}${address}`)).status, 200, address);
      }
      const scraped = at(find(manifests, 'ServiceMonitor'), 'spec.endpoints.0.path') as string;
      const headers = { authorization: `Bearer ${secrets['METRICS_TOKEN']}` };
      assert.equal((await fetch(`${program.url}${scraped}`)).status, 401);
      assert.equal((await fetch(`${program.url}${scraped}`, { headers })).status, 200);
      await program.stop();
    });
  },
);

type Schema = { readonly [name: string]: Schema };

/** Returns the paths of the fields that hold secrets; `*` stands for any name. */
function secretFields(schema: Schema, path: readonly string[] = []): string[][] {
  if (Object.hasOwn(schema, 'writeOnly'))
    return [schema['patternProperties'] ? [...path, '*'] : [...path]];
  const below = (part: Schema | undefined, name?: string) =>
    Object.entries(part ?? {}).flatMap(([key, child]) =>
      secretFields(child, name === undefined ? [...path, key] : [...path, name]),
    );
  return [
    ...below(schema['properties']),
    ...below(schema['patternProperties'], '*'),
    ...(Array.isArray(schema['anyOf'])
      ? (schema['anyOf'] as Schema[]).flatMap((branch) => secretFields(branch, path))
      : []),
  ];
}

const configSchema = JSON.parse(
  readFileSync(join(root, 'docs', 'config.schema.json'), 'utf8'),
) as Schema;

test(
  'every secret of the configuration is refused in the values, and a reference is not',
  { skip },
  async () => {
    const fields = secretFields(configSchema).filter(([section]) => section !== 'database');
    assert.ok(fields.length >= 9, `only ${fields.length} fields were found`);
    for (const field of fields) {
      const path = field.map((name) => (name === '*' ? 'acme' : name));
      const config = (value: string) => ({
        config: path.reduceRight<unknown>((child, name) => ({ [name]: child }), value),
      });
      const refusal = await refusalOf(config('sk-0123456789'));
      const expected = `config.${path.join('.')}: a ConfigMap must not hold a secret`;
      assert.ok(refusal.includes(expected), `${expected}; got ${refusal}`);
      assert.ok(!refusal.includes('sk-0123456789'), refusal);
      await render(config('${NAME}'));
    }
  },
);

test('the chart knows every section of the configuration', { skip }, () => {
  const schema: unknown = JSON.parse(readFileSync(join(chartFolder, 'values.schema.json'), 'utf8'));
  const names = at(schema, 'properties.config.propertyNames.enum') as string[];
  const sections = Object.keys(configSchema['properties']!).filter((name) => name !== 'database');
  assert.deepEqual(names.toSorted(), sections.toSorted());
});
