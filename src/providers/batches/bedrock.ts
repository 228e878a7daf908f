// Bedrock's batches: a job that reads a file of lines in a bucket and writes another there. Its id is the
// end of its ARN, and it is known by its name.
// https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference.html (read 2026-11-30)
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { newRandomCharacters } from '../../lib/ids.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import { batchLinesMax } from '../../terms/batch.ts';
import { addressesOf, type BatchCloud, filesIn, objectPath } from './buckets.ts';
import type { BatchHost, HostCalls, ReadLine, RemoteBatch, RemoteLine } from './host.ts';
import { fileFrame } from './openai.ts';
import { endedAs, failedBy, listed, readIdIn, readJsonLines, stateOf } from './shared.ts';

const path = '/model-invocation-job';
const list = { items: 'invocationJobSummaries', next: 'nextToken', query: 'nextToken' } as const;
const words = {
  running: 'Submitted Validating Scheduled InProgress Stopping',
  completed: 'Completed',
  canceled: 'Stopped',
  expired: 'Expired PartiallyCompleted',
  failed: 'Failed',
} as const;

export function bedrockBatches(cloud: BatchCloud): BatchHost {
  const { bucket, role, baseUrl, linesMin } = cloud;
  return {
    ...filesIn(cloud),
    addressOf: addressesOf(originOf(baseUrl, 'bedrock'), {
      ...originOf(baseUrl, 's3'),
      service: 's3',
    }),
    paths: /^\/model\/[^/]+\/(?:invoke|converse)$/,
    // Some models count the tokens of an embedding in a header.
    lineInputsMax: 0,
    linesMin,
    // All of a client's batch in one, or what is left over would be too few lines.
    max: { lines: batchLinesMax, bytes: 256 * 1024 * 1024 },
    // Converse has no tools in batches; `invoke` has.
    takes: ({ path: live, body }) =>
      live.endsWith('/invoke') ||
      !body.includes('"toolConfig"') ||
      !('toolConfig' in JSON.parse(body)),
    frame: fileFrame,
    // The job names the model.
    writeLine: (customId, _path, { model: _model, ...body }) => ({
      recordId: customId,
      modelInput: body,
    }),
    async create(calls, { mark, path: live, model }, fileId) {
      const { jobArn } = await calls.call('POST', path, {
        // Another try needs another name.
        jobName: `${nameOf(mark)}-${newRandomCharacters(8)}`,
        roleArn: role,
        modelId: model,
        modelInvocationType: live.endsWith('/converse') ? 'Converse' : 'InvokeModel',
        inputDataConfig: { s3InputDataConfig: { s3Uri: fileId, s3InputFormat: 'JSONL' } },
        outputDataConfig: { s3OutputDataConfig: { s3Uri: `${bucket}/${mark}/` } },
        timeoutDurationInHours: 24,
      });
      return readIdIn(jobArn);
    },
    async find(calls, { mark }) {
      const named = `${path}s?nameContains=${nameOf(mark)}&maxResults=100`;
      // An earlier try may have failed.
      for await (const { jobArn, jobName, status } of listed(calls, named, list))
        if (String(jobName).startsWith(nameOf(mark)) && status !== words.failed)
          return { id: readIdIn(jobArn) };
      return null;
    },
    look: async (calls, id) => readJob(id, await calls.call('GET', `${path}/${id}`)),
    cancelPath: (id) => `${path}/${id}/stop`,
    read,
    readLine,
  };
}

/**
 * `https://bedrock-runtime.eu-west-1.amazonaws.com` → `https://s3.eu-west-1.amazonaws.com`; a proxy
 * has all.
 */
function originOf(baseUrl: string, service: 'bedrock' | 's3') {
  const [, rest] =
    /^https:\/\/bedrock-runtime((?:-fips)?\.[a-z0-9-]+\.amazonaws\.(?:com(?:\.cn)?|eu))$/.exec(
      new URL(baseUrl).origin,
    ) ?? [];
  return rest === undefined ? {} : { origin: `https://${service}${rest}` };
}

function nameOf(mark: string): string {
  return mark.replace('_', '-');
}

function readJob(id: string, { status, message, outputDataConfig }: JsonObject): RemoteBatch {
  const state = stateOf(words, status);
  if (state === 'running') return { state };
  const { s3Uri: folder } = objectOf(objectOf(outputDataConfig)['s3OutputDataConfig']);
  const [results, manifest] = ['lines.jsonl.out', 'manifest.json.out'].map((name) =>
    objectPath(`${String(folder)}${id}/${name}`),
  ) as [string, string];
  const files = [results, manifest];
  if (state === 'failed') return failedBy({ message }, { results: [results], files });
  return endedAs(state, { results: [results], files });
}

/** A job of which nothing has run may have no file. */
async function* read(calls: HostCalls, at: string): AsyncGenerator<ReadLine> {
  try {
    yield* readJsonLines(calls, at);
  } catch (error) {
    if (!(error instanceof UpstreamBroken && error.failure.status === 404)) throw error;
  }
}

function readLine({ recordId: customId, modelOutput, error }: JsonObject): RemoteLine | null {
  if (typeof customId !== 'string') return null;
  if (isObject(modelOutput)) return { customId, result: { status: 200, body: modelOutput } };
  if (!isObject(error)) return null;
  const { errorCode: code, errorMessage: message } = error;
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
  return { customId, result: { status, body: { message } } };
}
