// The Helm chart: what it renders is what the Kubernetes API server accepts, with restricted pods;
// the gateway starts with it; and values that cannot work are refused in plain words. Needs Python
// with venv, and builds Helm with Go. In CI, a missing Python fails; elsewhere it skips the tests.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import packageJson from '../../../package.json' with { type: 'json' };
import {
  at,
  chartFolder,
  find,
  helm,
  kindsOf,
  problemsIn,
  refusalOf,
  render,
  type Values,
} from '../../support/chart.ts';
import { skipWithoutPython as skip } from '../../support/python.ts';

const folder = join(import.meta.dirname, 'values');
/** Values by the name of their file; `defaults` has none. */
const installations: Readonly<Record<string, Values>> = {
  defaults: {},
  ...Object.fromEntries(
    readdirSync(folder).map((file) => [
      file.replace('.yaml', ''),
      parse(readFileSync(join(folder, file), 'utf8')) as Values,
    ]),
  ),
};
const several = installations['several-gateways']!;
const postgres = {
  database: { kind: 'postgres' },
  existingSecrets: { database: { name: 'books' }, secret: { name: 'books' } },
};

for (const [name, values] of Object.entries(installations)) {
  test(`${name}: Helm's linter has no complaint`, { skip }, async () => {
    const { succeeded, output } = await helm(['lint', '--strict', chartFolder], values);
    assert.ok(succeeded, output);
  });

  for (const version of ['1.29.0', '1.37.0'])
    test(`${name}: Kubernetes accepts the manifests for ${version}`, { skip }, async () => {
      const { text, manifests } = await render(values, ['--kube-version', version]);
      assert.ok(manifests.length >= 4, kindsOf(manifests).join(', '));
      assert.deepEqual(await problemsIn(text), []);
    });
}

test('the check of manifests finds mistakes', { skip }, async () => {
  const { text } = await render(several);
  const mistakes: readonly (readonly [from: string, to: string, problem: RegExp])[] = [
    ['runAsNonRoot: true', 'runAsNonRoot: false', /runAsNonRoot != true/],
    ['readOnlyRootFilesystem', 'readOnlyRoot', /unknown field .*readOnlyRoot"/],
    ['containerPort: 4000', 'containerPort: 99999', /ports\[0\]\.containerPort/],
    ['cidr: 10.2.0.0/24', 'cidr: 10.2.0/24', /cidr: Invalid value/],
    ['minReplicas: 3', 'minReplicas: 30', /maxReplicas: Invalid value/],
    ['restartPolicy: Never', 'restartPolicy: Always', /Job: spec\.template\.spec\.restartPolicy/],
    ['interval: 15s', 'intervall: 15s', /unknown field .*intervall"/],
  ];
  for (const [from, to, problem] of mistakes) {
    assert.ok(text.includes(from), from);
    assert.match((await problemsIn(text.replaceAll(from, to))).join('\n'), problem);
  }
});

test('the chart has the version of the program', { skip }, () => {
  const chart: unknown = parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8'));
  assert.equal(at(chart, 'appVersion'), packageJson.version);
});

test(
  'one gateway on SQLite: a volume that stays, and never two pods at once',
  { skip },
  async () => {
    const { manifests } = await render({});
    assert.deepEqual(
      kindsOf(manifests),
      'ConfigMap Deployment NetworkPolicy PersistentVolumeClaim Service ServiceAccount'.split(' '),
    );
    const deployment = find(manifests, 'Deployment');
    assert.equal(at(deployment, 'spec.replicas'), 1);
    assert.deepEqual(at(deployment, 'spec.strategy'), { type: 'Recreate' });
    const claim = find(manifests, 'PersistentVolumeClaim');
    assert.deepEqual(at(claim, 'metadata.annotations'), { 'helm.sh/resource-policy': 'keep' });
    const volumes = at(deployment, 'spec.template.spec.volumes') as { name: string }[];
    assert.deepEqual(
      volumes.find(({ name }) => name === 'data'),
      { name: 'data', persistentVolumeClaim: { claimName: claim.metadata.name } },
    );
    assert.ok(!('topologySpreadConstraints' in (at(deployment, 'spec.template.spec') as object)));
  },
);

test(
  'several gateways: autoscaled, spread, protected from eviction, replaced one by one',
  { skip },
  async () => {
    const { manifests } = await render(several);
    assert.deepEqual(
      kindsOf(manifests),
      (
        'ConfigMap ConfigMap Deployment HorizontalPodAutoscaler Ingress Job NetworkPolicy ' +
        'PodDisruptionBudget Service ServiceAccount ServiceMonitor'
      ).split(' '),
    );
    const deployment = find(manifests, 'Deployment');
    // The autoscaler decides, so an upgrade must not set a number.
    assert.ok(!('replicas' in (at(deployment, 'spec') as object)));
    assert.deepEqual(at(deployment, 'spec.strategy.rollingUpdate'), {
      maxUnavailable: 0,
      maxSurge: 1,
    });
    const labels = at(deployment, 'spec.template.metadata.labels');
    for (const path of ['0', '1'])
      assert.deepEqual(
        at(
          deployment,
          `spec.template.spec.topologySpreadConstraints.${path}.labelSelector.matchLabels`,
        ),
        labels,
      );
    assert.deepEqual(
      at(find(manifests, 'PodDisruptionBudget'), 'spec.selector.matchLabels'),
      labels,
    );
    assert.equal(
      at(find(manifests, 'HorizontalPodAutoscaler'), 'spec.scaleTargetRef.name'),
      deployment.metadata.name,
    );
  },
);

test('without an autoscaler, two replicas are spread and protected too', { skip }, async () => {
  const { manifests } = await render({ ...postgres, replicas: 2 });
  assert.equal(at(find(manifests, 'Deployment'), 'spec.replicas'), 2);
  assert.ok(find(manifests, 'PodDisruptionBudget'));
});

test('the Service sends nothing to the pod of the migration', { skip }, async () => {
  const { manifests } = await render(several);
  const selector = at(find(manifests, 'Service'), 'spec.selector') as Record<string, string>;
  const matches = (labels: unknown) =>
    Object.entries(selector).every(
      ([name, value]) => (labels as Record<string, string>)[name] === value,
    );
  const labelsPath = 'spec.template.metadata.labels';
  assert.ok(matches(at(find(manifests, 'Deployment'), labelsPath)));
  assert.ok(!matches(at(find(manifests, 'Job'), labelsPath)));
});

test('Kubernetes waits longer than the gateway needs to drain', { skip }, async () => {
  for (const timeoutMs of [1, 30_000, 30_001, 600_000, 86_400_000]) {
    const { manifests } = await render({ config: { server: { shutdown_timeout_ms: timeoutMs } } });
    const deployment = find(manifests, 'Deployment');
    const graceSeconds = at(deployment, 'spec.template.spec.terminationGracePeriodSeconds');
    // It ends within the timeout and ten seconds (docs/operations.md).
    assert.ok(Number(graceSeconds) * 1_000 > timeoutMs + 10_000, `${timeoutMs} ms`);
  }
});

test('a migration may take as long as set, at the start and as a job', { skip }, async () => {
  const { manifests } = await render(several);
  assert.equal(at(find(manifests, 'Job'), 'spec.activeDeadlineSeconds'), 900);
  const deployment = find(manifests, 'Deployment');
  const probe = at(deployment, 'spec.template.spec.containers.0.startupProbe');
  assert.ok(Number(at(probe, 'periodSeconds')) * Number(at(probe, 'failureThreshold')) >= 900);
  assert.ok(Number(at(deployment, 'spec.progressDeadlineSeconds')) > 900);
});

test(
  'a changed configuration replaces the pods; a changed number of pods does not',
  { skip },
  async () => {
    const checksum = async (values: Values) =>
      at(
        find((await render({ ...postgres, ...values })).manifests, 'Deployment'),
        'spec.template.metadata.annotations',
      );
    const before = await checksum({});
    assert.deepEqual(await checksum({ replicas: 3 }), before);
    assert.notDeepEqual(await checksum({ config: { pricing: { markup: 1.2 } } }), before);
  },
);

test(
  'the network policy allows the chosen namespaces in, and DNS, PostgreSQL and HTTPS out',
  { skip },
  async () => {
    const { manifests } = await render(several);
    const policy = find(manifests, 'NetworkPolicy');
    const namespace = (name: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    });
    assert.deepEqual(at(policy, 'spec.policyTypes'), ['Ingress', 'Egress']);
    assert.deepEqual(at(policy, 'spec.ingress.0'), {
      from: [{ podSelector: {} }, namespace('ingress-nginx'), namespace('monitoring')],
      ports: [{ port: 'http' }],
    });
    const ports = (at(policy, 'spec.egress') as { ports: { port: number }[] }[]).map((rule) =>
      rule.ports.map(({ port }) => port),
    );
    assert.deepEqual(ports, [[53, 53], [443], [5432], [465, 587], [8080]]);
    assert.deepEqual(at(policy, 'spec.egress.2.to'), [
      { ipBlock: { cidr: '10.2.0.0/24' } },
      namespace('databases'),
    ]);
    // A URL that a client sends must not reach the cloud's metadata service.
    const [ipv4] = at(policy, 'spec.egress.1.to') as { ipBlock: { except: string[] } }[];
    assert.ok(ipv4!.ipBlock.except.includes('169.254.0.0/16'));
  },
);

test('without PostgreSQL and mail, their ports are closed', { skip }, async () => {
  const { manifests } = await render({});
  const rules = at(find(manifests, 'NetworkPolicy'), 'spec.egress') as unknown[];
  assert.equal(rules.length, 2);
});

test('no secret has its value in a manifest', { skip }, async () => {
  const { manifests } = await render(several);
  assert.ok(!kindsOf(manifests).includes('Secret'));
  const env = at(find(manifests, 'Deployment'), 'spec.template.spec.containers.0.env') as readonly {
    readonly name: string;
    readonly value?: string;
  }[];
  assert.deepEqual(
    env.filter(({ value }) => value !== undefined).map(({ name }) => name),
    ['TOLLGATE_CONFIG', 'TOLLGATE_DATA_DIR', 'HOST', 'PORT', 'AWS_REGION'],
  );
});

test('without ids, a pod gets the user and the group of its namespace', { skip }, async () => {
  const { manifests } = await render({ podSecurity: { user: null, group: null } });
  const context = at(find(manifests, 'Deployment'), 'spec.template.spec.securityContext') as object;
  assert.deepEqual(Object.keys(context).toSorted(), [
    'fsGroupChangePolicy',
    'runAsNonRoot',
    'seccompProfile',
  ]);
});

const refusals: Readonly<Record<string, readonly [values: Values, reason: RegExp]>> = {
  'an unknown key': [{ replica: 2 }, /additional properties 'replica' not allowed/],
  'an unknown key in a section': [
    { autoscaling: { enable: true } },
    /\/autoscaling'?: additional properties 'enable' not allowed/,
  ],
  'an unknown section of the configuration': [
    { config: { servers: {} } },
    /\/config'?: .*propertyName|'servers'/,
  ],
  'a wrong type': [{ replicas: 'two' }, /\/replicas'?: got string, want integer/],
  'an unknown database': [
    { database: { kind: 'mysql' } },
    /\/database\/kind'?: value must be one of 'sqlite', 'postgres'/,
  ],
  'a drain that is not a number': [
    { config: { server: { shutdown_timeout_ms: '${TIME}' } } },
    /shutdown_timeout_ms'?: got string, want integer/,
  ],
  'the root user': [{ podSecurity: { user: 0 } }, /\/podSecurity\/user'?: minimum: got 0, want 1/],
  'a database in the configuration': [
    { config: { database: { url: 'postgres://user:password@host/database' } } },
    /'database'/,
  ],
  'two gateways on SQLite': [{ replicas: 2 }, /replicas: SQLite serves one gateway, not 2\. Set/],
  'an autoscaler on SQLite': [
    { autoscaling: { enabled: true } },
    /autoscaling\.enabled: SQLite serves one gateway\. Set/,
  ],
  'a migration job on SQLite': [{ migrations: { mode: 'job' } }, /migrations\.mode: with SQLite/],
  'an address with SQLite': [
    { existingSecrets: { database: { name: 'books' } } },
    /existingSecrets\.database: SQLite needs no address/,
  ],
  'PostgreSQL without an address': [
    { database: { kind: 'postgres' } },
    /existingSecrets\.database\.name: PostgreSQL needs a Secret/,
  ],
  'PostgreSQL without a secret': [
    { ...postgres, existingSecrets: { database: { name: 'books' } } },
    /existingSecrets\.secret\.name: gateways on PostgreSQL share a secret/,
  ],
  'two secrets': [{ ...postgres, generateSecret: true }, /generateSecret: .* Set one of the two/],
  'an autoscaler without a CPU request': [
    { ...postgres, autoscaling: { enabled: true }, resources: { requests: { cpu: null } } },
    /resources\.requests\.cpu, which is not set/,
  ],
  'metrics without a token': [
    { serviceMonitor: { enabled: true } },
    /serviceMonitor\.enabled: \/metrics needs a token/,
  ],
  'an Ingress without hosts': [{ ingress: { enabled: true } }, /ingress\.hosts: name at least one/],
  'removed charges exported to a folder that ends with the pod': [
    { ...postgres, config: { retention: { charges_days: 400, export_folder: '/data/charges' } } },
    /config\.retention\.export_folder: with PostgreSQL, \/data ends with the pod/,
  ],
};

for (const [name, [values, reason]] of Object.entries(refusals))
  test(`refused: ${name}`, { skip }, async () => assert.match(await refusalOf(values), reason));
