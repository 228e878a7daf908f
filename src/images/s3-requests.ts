// Signed requests to one bucket of any S3-compatible service, and to no other host. What the service says when it fails is for the
// operator's log. https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { Pool, type buildConnector, type Dispatcher } from 'undici';
import type { Clock } from '../lib/clock.ts';

export type Bucket = {
  /** http or https, without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Whether the bucket stands in the path, as with most services of one's own, or before the host. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
};

type BucketRequest = {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** '' is the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** What else than 200 is no failure. */
  readonly expected?: readonly number[];
};

type BucketAnswer = {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Dispatcher.ResponseData['body'];
};

export type BucketRequests = {
  /** The body must be read or destroyed. Rejects when the bucket cannot be reached or answers with a failure, after three tries. */
  readonly send: (request: BucketRequest) => Promise<BucketAnswer>;
  /** Of an answer that is text. */
  readonly sendForText: (request: BucketRequest) => Promise<string>;
  readonly close: () => Promise<void>;
};

/** Each try signs anew. All our requests may be repeated. */
const waitsMs = [200, 1_000] as const;
/** Between two pieces; a whole image takes as long as it takes. */
const silenceMs = 30_000;
const textBytesMax = 8 * 1024 * 1024;

export type BucketOptions = {
  readonly clock: Clock;
  /** How connections are opened, where it is not as the host's name says. */
  readonly connect?: buildConnector.connector | undefined;
};

export function openBucket(bucket: Bucket, { clock, connect }: BucketOptions): BucketRequests {
  const base = baseUrlOf(bucket);
  // As many connections as there are readers: with fewer, slow ones would keep images from being stored.
  const pool = new Pool(base.origin, {
    connect: connect ?? { timeout: 5_000 },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  });
  const send = async (request: BucketRequest) => {
    for (const waitMs of waitsMs) {
      const answer = await sendOnce(pool, { bucket, base, request }).catch(() => null);
      if (answer !== null && answer.status < 500 && answer.status !== 429) return expectedOr(answer, request);
      await answer?.body.dump().catch(() => {});
      await clock.sleep(waitMs);
    }
    return expectedOr(await sendOnce(pool, { bucket, base, request }), request);
  };
  return {
    send,
    sendForText: async (request) => textOf((await send(request)).body),
    close: () => pool.destroy(),
  };
}

function baseUrlOf({ endpoint, bucket, pathStyle }: Bucket): URL {
  const url = new URL(endpoint);
  if (pathStyle) url.pathname = `/${bucket}`;
  else url.hostname = `${bucket}.${url.hostname}`;
  return url;
}

type Attempt = { readonly bucket: Bucket; readonly base: URL; readonly request: BucketRequest };

async function sendOnce(pool: Pool, { bucket, base, request }: Attempt): Promise<BucketAnswer> {
  const { method, key, query = {}, headers = {}, body } = request;
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/u, '')}/${key}`;
  // The signer writes a space as %20, the standard's parameters as `+`; ours hold neither.
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const signed = await new AwsV4Signer({
    method,
    url: url.href,
    headers: {
      ...headers,
      'x-amz-content-sha256': createHash('sha256')
        .update(body ?? '')
        .digest('hex'),
    },
    accessKeyId: bucket.accessKeyId,
    secretAccessKey: bucket.secretAccessKey,
    ...(bucket.sessionToken !== undefined && { sessionToken: bucket.sessionToken }),
    region: bucket.region,
    service: 's3',
  }).sign();
  const path = signed.url.pathname + signed.url.search;
  const answer = await pool.request({ method, path, headers: Object.fromEntries(signed.headers), body: body ?? null });
  return { status: answer.statusCode, headers: answer.headers, body: answer.body };
}

async function expectedOr(answer: BucketAnswer, { method, expected = [] }: BucketRequest): Promise<BucketAnswer> {
  if (answer.status === 200 || expected.includes(answer.status)) return answer;
  const code = /<Code>([A-Za-z0-9.]{1,80})<\/Code>/.exec(await textOf(answer.body))?.[1] ?? 'no code';
  throw new Error(`the bucket answered ${method} with status ${answer.status} (${code})`);
}

async function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > textBytesMax) throw new Error(`the bucket answered with more than ${textBytesMax} bytes of text`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}
