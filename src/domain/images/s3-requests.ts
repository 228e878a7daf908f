// Sends signed requests to one bucket of any S3-compatible service, and to no other host. The
// service's own error codes go to the operator's log only.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import type { buildConnector, Dispatcher } from 'undici';
import { Pool } from '../../lib/undici.ts';
import type { Clock } from '../../lib/clock.ts';

export type Bucket = {
  /** http or https, without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /**
   * True when the bucket is part of the path, as with most self-hosted services; otherwise it is
   * part of the host name.
   */
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
  /** Statuses besides 200 that are no failure. */
  readonly expected?: readonly number[];
};

type BucketAnswer = {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Dispatcher.ResponseData['body'];
};

export type BucketRequests = {
  /**
   * The caller must read or destroy the body. Rejects after three attempts when the bucket is
   * unreachable or fails.
   */
  readonly send: (request: BucketRequest) => Promise<BucketAnswer>;
  readonly sendForText: (request: BucketRequest) => Promise<string>;
  readonly close: () => Promise<void>;
};

/** Each attempt is signed again. All our requests are safe to repeat. */
const retryDelaysMs = [200, 1_000] as const;
/** Between two chunks; a whole image has no time limit. */
const idleTimeoutMs = 30_000;
const textBytesMax = 8 * 1024 * 1024;

type BucketOptions = {
  readonly clock: Clock;
  /** Replaces the connection that the endpoint's host name gives. */
  readonly connect?: buildConnector.connector | undefined;
};

export function openBucket(bucket: Bucket, { clock, connect }: BucketOptions): BucketRequests {
  const base = baseUrlOf(bucket);
  // Unlimited connections: with a limit, slow readers would keep images from being stored.
  const pool = new Pool(base.origin, {
    connect: connect ?? { timeout: 5_000 },
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  });
  const send = async (request: BucketRequest) => {
    for (const waitMs of retryDelaysMs) {
      const answer = await sendOnce(pool, { bucket, base, request }).catch(() => null);
      if (answer !== null && answer.status < 500 && answer.status !== 429)
        return expectedOr(answer, request);
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
  // The signer encodes a space as %20 and URLSearchParams as `+`. Our values contain neither.
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
  const answer = await pool.request({
    method,
    path,
    headers: Object.fromEntries(signed.headers),
    body: body ?? null,
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.body };
}

async function expectedOr(
  answer: BucketAnswer,
  { method, expected = [] }: BucketRequest,
): Promise<BucketAnswer> {
  if (answer.status === 200 || expected.includes(answer.status)) return answer;
  const code =
    /<Code>([A-Za-z0-9.]{1,80})<\/Code>/.exec(await textOf(answer.body))?.[1] ?? 'no code';
  throw new Error(`the bucket answered ${method} with status ${answer.status} (${code})`);
}

async function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > textBytesMax)
      throw new Error(`the bucket answered with more than ${textBytesMax} bytes of text`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}
