// A Kubernetes API for Helm: it stores the objects of the chart's kinds in memory and runs nothing.
// Jobs have succeeded as soon as they are made. Objects are not checked: `check-manifests` does that.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { JsonObject } from '../../src/lib/json.ts';

export type KubernetesApi = {
  readonly url: string;
  /** Objects by their path: `secrets/gateway-tollgate-secret`. */
  readonly objects: Map<string, JsonObject>;
  /** Changes in order: `POST deployments/gateway-tollgate`. */
  readonly log: string[];
  readonly close: () => void;
};

/** Kinds by group and version, with the names of their collections. */
const kinds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v1: {
    ConfigMap: 'configmaps',
    PersistentVolumeClaim: 'persistentvolumeclaims',
    Secret: 'secrets',
    Service: 'services',
    ServiceAccount: 'serviceaccounts',
  },
  'apps/v1': { Deployment: 'deployments' },
  'batch/v1': { Job: 'jobs' },
  'networking.k8s.io/v1': { NetworkPolicy: 'networkpolicies', Ingress: 'ingresses' },
  'policy/v1': { PodDisruptionBudget: 'poddisruptionbudgets' },
};

export async function startKubernetesApi(): Promise<KubernetesApi> {
  const objects: KubernetesApi['objects'] = new Map();
  const log: string[] = [];
  const server = createServer((request, response) => {
    answer({ objects, log }, request).then(
      ({ status, body }) => send(response, status, body),
      (error: unknown) => send(response, 500, statusOf(500, String(error))),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, objects, log, close };
}

type Answer = { readonly status: number; readonly body: object };

async function answer(
  { objects, log }: Pick<KubernetesApi, 'objects' | 'log'>,
  request: IncomingMessage,
): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url!, 'http://kubernetes.test');
  const [, version, collection, name] =
    /^\/(?:api|apis)\/(.+?)\/namespaces\/[^/]+\/([^/]+)(?:\/([^/]+))?$/.exec(pathname) ?? [];
  if (version === undefined || collection === undefined) return discovery(pathname);
  if (searchParams.has('watch')) return failure(400, 'this API cannot watch');
  if (request.method === 'GET' && name === undefined)
    return list(objects, collection, searchParams.get('labelSelector') ?? '');
  const hasObject = request.method !== 'GET' && request.method !== 'DELETE';
  const body = !hasObject ? {} : readObject(await buffer(request));
  const path = `${collection}/${name ?? (body['metadata'] as { name: string }).name}`;
  const known = objects.get(path);
  if (request.method !== 'GET') log.push(`${request.method} ${path}`);
  if (request.method === 'POST') {
    if (known) return failure(409, `${path} exists already`, 'AlreadyExists');
    const made = collection === 'jobs' ? { ...body, status: succeeded } : body;
    objects.set(path, made);
    return { status: 201, body: made };
  }
  if (!known) return failure(404, `${path} is not there`, 'NotFound');
  if (request.method === 'DELETE') objects.delete(path);
  if (request.method === 'PUT') objects.set(path, body);
  if (request.method === 'PATCH') objects.set(path, merge(known, body) as JsonObject);
  return { status: 200, body: objects.get(path) ?? statusOf(200, 'deleted') };
}

/** Helm sends its records as protobuf, and all else as JSON. */
function readObject(bytes: Buffer): JsonObject {
  const isProtobuf = bytes.subarray(0, 4).toString('latin1') === 'k8s\0';
  return isProtobuf ? readSecret(bytes.subarray(4)) : (JSON.parse(bytes.toString()) as JsonObject);
}

/** Reads a Secret, the only kind that is sent so. The numbers are those of Kubernetes' .proto files. */
function readSecret(bytes: Buffer): JsonObject {
  const [secret] = fieldsOf(bytes).get(2)!;
  const fields = fieldsOf(secret!);
  const metadata = fieldsOf(fields.get(1)![0]!);
  const text = (value: Buffer) => value.toString();
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: text(metadata.get(1)![0]!),
      namespace: 'default',
      labels: mapOf(metadata.get(11), text),
    },
    data: mapOf(fields.get(2), (value) => value.toString('base64')),
    type: text(fields.get(3)![0]!),
  };
}

function mapOf(
  entries: readonly Buffer[] = [],
  read: (value: Buffer) => string,
): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const fields = fieldsOf(entry);
      return [fields.get(1)![0]!.toString(), read(fields.get(2)![0]!)];
    }),
  );
}

/** Returns the fields of a protobuf message that are bytes, by number. Skips numbers. */
function fieldsOf(message: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const varint = () => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = message[at++]!;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const length = varint();
    if (tag % 8 !== 2) continue;
    const number = Math.floor(tag / 8);
    fields.set(number, [...(fields.get(number) ?? []), message.subarray(at, at + length)]);
    at += length;
  }
  return fields;
}

const succeeded = { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] };

/** Answers which kinds there are. */
function discovery(path: string): Answer {
  if (path === '/version') return ok({ major: '1', minor: '37', gitVersion: 'v1.37.0' });
  if (path === '/api') return ok({ kind: 'APIVersions', versions: ['v1'] });
  if (path === '/apis') {
    const groups = Object.keys(kinds)
      .filter((groupVersion) => groupVersion !== 'v1')
      .map((groupVersion) => {
        const [name, version] = groupVersion.split('/');
        return { name, versions: [{ groupVersion, version }] };
      });
    return ok({ kind: 'APIGroupList', apiVersion: 'v1', groups });
  }
  if (path.startsWith('/openapi/v3')) return openApi(path);
  const groupVersion = path.replace(/^\/apis?\//, '');
  const own = kinds[groupVersion];
  if (!own) return failure(404, `${path} is not there`, 'NotFound');
  const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
  const resources = Object.entries(own).map(([kind, name]) => ({
    name,
    singularName: kind.toLowerCase(),
    namespaced: true,
    kind,
    verbs,
  }));
  return ok({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources });
}

/** Answers that this API itself refuses unknown fields, so that Helm does not ask for schemas. */
function openApi(path: string): Answer {
  const placeOf = (groupVersion: string) =>
    `${groupVersion === 'v1' ? 'api' : 'apis'}/${groupVersion}`;
  if (path === '/openapi/v3') {
    const paths = Object.keys(kinds).map((groupVersion) => {
      const place = placeOf(groupVersion);
      return [place, { serverRelativeURL: `/openapi/v3/${place}` }];
    });
    return ok({ paths: Object.fromEntries(paths) });
  }
  const [groupVersion, own] = Object.entries(kinds).find(([key]) => path.endsWith(placeOf(key)))!;
  const [version, group = ''] = groupVersion.split('/').toReversed();
  const paths = Object.entries(own).map(([kind, name]) => [
    `/${placeOf(groupVersion)}/namespaces/{namespace}/${name}/{name}`,
    {
      patch: {
        parameters: [{ name: 'fieldValidation', in: 'query' }],
        'x-kubernetes-group-version-kind': { group, version, kind },
      },
    },
  ]);
  return ok({ openapi: '3.0.0', paths: Object.fromEntries(paths) });
}

/** `selector`: labels that must be equal, such as `owner=helm,name=gateway`. */
function list(objects: KubernetesApi['objects'], collection: string, selector: string): Answer {
  const wanted = selector.split(',').filter((part) => part !== '');
  const items = [...objects]
    .filter(([path]) => path.startsWith(`${collection}/`))
    .map(([, object]) => object)
    .filter(({ metadata }) => {
      const labels = (metadata as { labels?: Record<string, string> }).labels ?? {};
      return wanted.every((part) => {
        const [name, value] = part.split('=');
        return labels[name!] === value;
      });
    });
  const [groupVersion, own] = Object.entries(kinds).find(([, names]) =>
    Object.values(names).includes(collection),
  )!;
  const kind = Object.keys(own).find((name) => own[name] === collection);
  return ok({
    kind: `${kind}List`,
    apiVersion: groupVersion,
    metadata: { resourceVersion: '1' },
    items,
  });
}

/** Applies a merge patch. Lists are replaced, which is enough for what the tests look at. */
function merge(value: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> = { ...(value as object | undefined) };
  for (const [name, part] of Object.entries(patch)) {
    if (name.startsWith('$')) continue;
    if (part === null) delete merged[name];
    else merged[name] = merge(merged[name], part);
  }
  return merged;
}

function ok(body: object): Answer {
  return { status: 200, body };
}

function failure(status: number, message: string, reason = 'BadRequest'): Answer {
  return { status, body: statusOf(status, message, reason) };
}

function statusOf(code: number, message: string, reason?: string): object {
  const status = code < 400 ? 'Success' : 'Failure';
  return { kind: 'Status', apiVersion: 'v1', status, message, reason, code };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
