// AWS Signature Version 4, computed again by its description, to check what was signed.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

type Signed = {
  /** As it was sent. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly region: string;
  readonly secret?: string;
};

const exampleSecret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';

/** Returns the signature that the request should have, over the headers that it says are signed. */
export function signatureOf({
  path,
  headers,
  text,
  region,
  secret = exampleSecret,
}: Signed): string {
  const names = /SignedHeaders=([\w;-]+)/.exec(headers.authorization!)![1]!;
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const canonical = ['POST', encoded, '', lines.join(''), names, sha256(text)].join('\n');
  const time = String(headers['x-amz-date']);
  const scope = `${time.slice(0, 8)}/${region}/bedrock/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<Buffer>(
      (last, part) => createHmac('sha256', last).update(part).digest(),
      Buffer.from(`AWS4${secret}`),
    );
  return createHmac('sha256', key).update(toSign).digest('hex');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
