// Recorded embeddings of real hosts become vectors with the hosts' own count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownProviders } from '../src/config/known-providers.ts';
import type { JsonObject } from '../src/lib/json.ts';
import type { ChatKindName } from '../src/terms/provider-kind.ts';
import { embeddingHostOf } from '../src/providers/embeddings/index.ts';
import { encodeAs, readVector } from '../src/providers/embeddings/vectors.ts';
import { loadEndpointRecordings, type EndpointRecording } from './support/endpoint-recordings.ts';

/** By a part of the host's name. */
const providers: readonly (readonly [host: string, name: string])[] = [
  ['aiplatform.googleapis.com', 'vertex'],
  ['generativelanguage', 'google'],
  ['azure.com', 'azure'],
  ['bedrock-runtime', 'bedrock'],
  ['cohere', 'cohere'],
  ['mistral', 'mistral'],
  ['voyageai', 'voyage'],
  ['perplexity', 'perplexity'],
  ['openrouter', 'openrouter'],
  ['openai.com', 'openai'],
];

const place = { region: 'us-east-1', project: 'p', apiVersion: null };

/** Reads the counted tokens of any vendor's answer; null: it has none. */
function vendorCount({ usageHeaders }: EndpointRecording, body: unknown): number | null {
  const header = usageHeaders?.['x-amzn-bedrock-input-token-count'];
  if (header !== undefined) return Number(header);
  const found = [...JSON.stringify(body).matchAll(countPattern)].map(([, one, other]) =>
    Number(one ?? other),
  );
  return found.length === 0 ? null : found.reduce((sum, count) => sum + count, 0);
}

const countPattern =
  /"(?:prompt_tokens|promptTokenCount|input_tokens|token_count|inputTextTokenCount)":(\d+)|"usage":\{"total_tokens":(\d+)/g;

const recordings = loadEndpointRecordings('embeddings').filter(({ status }) => status === 200);
const read: string[] = [];

for (const recording of recordings) {
  const { file, host, path } = recording;
  const name = providers.find(([part]) => host.includes(part))?.[1];
  test(`${file} becomes vectors`, () => {
    assert.ok(name, `no provider of ${host}`);
    const { kind, wishes } = knownProviders[name]!;
    const upstreamModel = modelOf(recording);
    const form = embeddingHostOf({
      kind: kind as ChatKindName,
      upstreamModel,
      wishes: wishes ?? {},
    });
    const body = JSON.parse(recording.bytes.toString()) as JsonObject;
    const job = {
      upstreamModel,
      place,
      inputs: ['x'],
      purpose: null,
      user: null,
      dimensions: null,
      encoding: 'float' as const,
    };
    // The recordings have both forms of Vertex.
    const made = form!.read(body, job);
    assert.ok(made, `${path} cannot be read`);
    assert.ok(made.vectors.length > 0);
    assert.equal(new Set(made.vectors.map(({ length }) => length)).size, 1);
    const counted = recording.usageHeaders === null ? made.tokens : (made.tokens ?? 'header');
    const expected = vendorCount(recording, body);
    if (counted !== 'header') assert.equal(counted, expected);
    for (const vector of made.vectors) {
      const floats = encodeAs('float', vector) as number[];
      assert.ok(floats.every(Number.isFinite));
      const again = encodeAs('float', readVector(encodeAs('base64', vector))!) as number[];
      for (const [index, float] of again.entries())
        assert.equal(float, Math.fround(floats[index]!), String(index));
    }
    read.push(file);
  });
}

test('all of them were read', () => {
  assert.equal(read.length, recordings.length);
});

function modelOf({ model, path }: EndpointRecording): string {
  if (model !== null) return model;
  return decodeURIComponent(/models?\/([^/:]+)/.exec(path)?.[1] ?? '');
}
