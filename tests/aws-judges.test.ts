// AWS's own code judges ours: frames that its encoder writes are read, and its signer signs the same
// requests with the same result.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { SignatureV4 } from '@smithy/signature-v4';
import { EventStreamParser } from '../src/lib/event-stream.ts';
import { openCredential } from '../src/providers/bedrock/credential.ts';
import { toolsWith } from './support/credential-tools.ts';
import fc from './support/property.ts';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

const headerValues = fc.oneof(
  fc.string({ maxLength: 50 }).map((value) => ({ type: 'string', value }) as const),
  fc.boolean().map((value) => ({ type: 'boolean', value }) as const),
  fc.integer({ min: -128, max: 127 }).map((value) => ({ type: 'byte', value }) as const),
  fc.integer({ min: -32_768, max: 32_767 }).map((value) => ({ type: 'short', value }) as const),
  fc.integer().map((value) => ({ type: 'integer', value }) as const),
  fc.uint8Array({ maxLength: 40 }).map((value) => ({ type: 'binary', value }) as const),
  fc.date({ noInvalidDate: true }).map((value) => ({ type: 'timestamp', value }) as const),
  fc.uuid().map((value) => ({ type: 'uuid', value }) as const),
);
const messages = fc.record({
  headers: fc.dictionary(fc.stringMatching(/^[:a-z-]{1,20}$/), headerValues, { maxKeys: 5 }),
  body: fc.uint8Array({ maxLength: 300 }),
});

test('what AWS’s encoder writes is read, however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(messages, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(400), { maxLength: 8 }),
      (written, cuts) => {
        const bytes = Buffer.concat(written.map((message) => codec.encode(message)));
        const parser = new EventStreamParser();
        const places = [0, ...cuts.map((cut) => cut % bytes.length), bytes.length];
        places.sort((one, other) => one - other);
        const read = places
          .slice(1)
          .flatMap((end, index) => [...parser.push(bytes.subarray(places[index], end))]);
        parser.end();
        assert.equal(read.length, written.length);
        for (const [index, { headers, payload }] of read.entries()) {
          const { headers: own, body } = written[index]!;
          assert.deepEqual(payload, Buffer.from(body));
          const texts = Object.entries(own).filter(([, { type }]) => type === 'string');
          assert.deepEqual(
            Object.fromEntries(headers),
            Object.fromEntries(texts.map(([name, { value }]) => [name, value])),
          );
        }
      },
    ),
  );
});

/** The hash that AWS's signer is given. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | Uint8Array | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined
        ? createHash('sha256')
        : createHmac('sha256', secret as string | Uint8Array);
  }
  update(data: string | Uint8Array) {
    this.#hash.update(data);
  }
  digest() {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }
  reset() {}
}

const requests = fc.record({
  model: fc.stringMatching(/^[a-z0-9.:/-]{1,60}$/),
  body: fc.string({ maxLength: 200 }),
  region: fc.constantFrom('us-east-1', 'eu-west-1', 'us-gov-west-1'),
  session: fc.option(fc.stringMatching(/^[A-Za-z0-9/+=]{10,60}$/), { nil: undefined }),
  call: fc.constantFrom(
    { service: 'bedrock', method: 'POST' } as const,
    { service: 'bedrock', method: 'GET' } as const,
    { service: 's3', method: 'PUT' } as const,
    { service: 's3', method: 'DELETE' } as const,
  ),
});

test('AWS’s signer signs every request of ours with the same signature', async () => {
  const nowMs = Date.parse('2026-11-27T12:00:00Z');
  const accessKeyId = 'AKIAEXAMPLE000001';
  const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
  await fc.assert(
    fc.asyncProperty(requests, async ({ model, body, region, session, call }) => {
      const { service, method } = call;
      const isFile = service === 's3';
      const hostname = `${isFile ? 's3' : 'bedrock-runtime'}.${region}.amazonaws.com`;
      const path = isFile
        ? `/my-bucket/${model
            .split('/')
            .map((name) => encodeURIComponent(`x${name}`))
            .join('/')}`
        : `/model/${encodeURIComponent(model)}/converse`;
      const { tools } = toolsWith({}, {}, { nowMs: () => nowMs });
      const key = [accessKeyId, secretAccessKey, ...(session ? [session] : [])].join(':');
      const place = { region, project: null, apiVersion: null };
      const ours = await openCredential(key, place, tools)!.headersFor({
        method,
        url: new URL(`https://${hostname}${path}`),
        ...(isFile && { service }),
        headers: {},
        body: isFile ? null : body,
      });
      const signer = new SignatureV4({
        service,
        // S3 takes paths as they are.
        uriEscapePath: !isFile,
        region,
        credentials: { accessKeyId, secretAccessKey, ...(session && { sessionToken: session }) },
        sha256: Sha256,
        applyChecksum: false,
      });
      const theirs = await signer.sign(
        {
          method,
          protocol: 'https:',
          hostname,
          path,
          headers: {
            host: hostname,
            'content-type': 'application/json',
            ...(isFile && { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }),
          },
          body,
        },
        { signingDate: new Date(nowMs) },
      );
      assert.equal(ours['authorization'], theirs.headers['authorization']);
      assert.equal(ours['x-amz-security-token'], session);
    }),
    { numRuns: 100 },
  );
});
