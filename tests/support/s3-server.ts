// A small S3 for tests, with one bucket. It verifies every signature from the received request, by
// AWS's document and without the library that signs:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type S3Server = {
  readonly port: number;
  /** Objects by key. */
  readonly objects: Map<string, { readonly bytes: Buffer; readonly type: string }>;
  /** Requests in order, such as `PUT 200`. */
  readonly log: string[];
  /** The next `count` requests fail with this status. */
  readonly failNext: { count: number; status: number };
  readonly close: () => void;
};

export const s3Credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
export const s3Region = 'eu-test-1';
export const s3Bucket = 'pictures';

export async function startS3Server(): Promise<S3Server> {
  const objects: S3Server['objects'] = new Map();
  const log: string[] = [];
  const failNext = { count: 0, status: 503 };
  const server = createServer((request, response) => {
    response.on('finish', () => log.push(`${request.method} ${response.statusCode}`));
    buffer(request).then(
      (body) => handle({ request, response, body }),
      () => {}, // the gateway aborted the call
    );
  });
  const handle = ({
    request,
    response,
    body,
  }: Pick<Call, 'request' | 'response' | 'body'>): void => {
    if (failNext.count-- > 0) return fail(response, failNext.status, 'SlowDown');
    const fault = signatureFault(request, body);
    if (fault !== null) return fail(response, 403, fault);
    const url = new URL(request.url!, 'http://s3.test');
    const isVirtual = request.headers.host!.startsWith(`${s3Bucket}.`);
    if (!isVirtual && !`${url.pathname}/`.startsWith(`/${s3Bucket}/`))
      return fail(response, 404, 'NoSuchBucket');
    const key = decodeURIComponent(
      isVirtual ? url.pathname.slice(1) : url.pathname.slice(s3Bucket.length + 2),
    );
    return answer(objects, { request, response, key, query: url.searchParams, body });
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { port, objects, log, failNext, close };
}

type Call = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
};

function answer(objects: S3Server['objects'], { request, response, key, query, body }: Call): void {
  if (key === '') return void response.end(listing(objects, query));
  if (request.method === 'PUT') {
    objects.set(key, { bytes: body, type: String(request.headers['content-type']) });
    return void response.end();
  }
  if (request.method === 'DELETE') {
    objects.delete(key);
    return void response.writeHead(204).end();
  }
  const object = objects.get(key);
  if (!object) return fail(response, 404, 'NoSuchKey');
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  const bytes = range
    ? object.bytes.subarray(Number(range[1]), Number(range[2]) + 1)
    : object.bytes;
  response.writeHead(range ? 206 : 200, {
    'content-length': bytes.length,
    'content-type': object.type,
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

function listing(objects: S3Server['objects'], query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
  const folderOf = (key: string) => /^[^/]*\//.exec(key.slice(prefix.length))?.[0];
  const folders =
    query.get('delimiter') === '/'
      ? new Set(keys.flatMap((key) => folderOf(key) ?? []))
      : new Set<string>();
  const plain = keys
    .filter((key) => folders.size === 0 || folderOf(key) === undefined)
    .slice(0, Number(query.get('max-keys') ?? 1_000));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    `<Name>${s3Bucket}</Name><Prefix>${prefix}</Prefix>`,
    ...plain.map(
      (key) =>
        `<Contents><Key>${key}</Key><Size>${objects.get(key)!.bytes.length}</Size></Contents>`,
    ),
    ...[...folders].map(
      (folder) => `<CommonPrefixes><Prefix>${prefix}${folder}</Prefix></CommonPrefixes>`,
    ),
    '</ListBucketResult>',
  ].join('');
}

function fail(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${code}</Code></Error>`);
}

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

/** Returns null when the signature matches exactly this request. */
function signatureFault(request: IncomingMessage, body: Buffer): string | null {
  const found = authorization.exec(request.headers.authorization ?? '');
  if (!found) return 'AuthorizationHeaderMalformed';
  const [, keyId, date, region, names, signature] = found;
  const time = String(request.headers['x-amz-date']);
  if (keyId !== s3Credentials.accessKeyId) return 'InvalidAccessKeyId';
  if (region !== s3Region || !time.startsWith(date!)) return 'AuthorizationHeaderMalformed';
  const sentAtMs = Date.parse(
    time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
  if (!(Math.abs(Date.now() - sentAtMs) < 15 * 60_000)) return 'RequestTimeTooSkewed';
  if (request.headers['x-amz-content-sha256'] !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const signed = names!.split(';');
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signed.includes(name)))
    return 'AccessDenied';
  const [path, query = ''] = request.url!.split('?');
  const canonical = [
    request.method,
    path,
    query.split('&').toSorted().join('&'),
    ...signed.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const text = [
    'AWS4-HMAC-SHA256',
    time,
    `${date}/${region}/s3/aws4_request`,
    sha256(canonical),
  ].join('\n');
  const key = [date!, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${s3Credentials.secretAccessKey}`,
  );
  return hmac(key, text).toString('hex') === signature ? null : 'SignatureDoesNotMatch';
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
