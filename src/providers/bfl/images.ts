// Black Forest Labs: submit a job, poll its state until the image is ready, then fetch the image
// from the URL in the answer. One image a call. https://docs.bfl.ai/quick_start/generating_images
import { makeFailure, type FailedReply } from '../../canonical/make-failure.ts';
import { objectOf } from '../../lib/json.ts';
import { keyHeader } from '../../lib/key-headers.ts';
import {
  failed,
  failedReply,
  imageAnswerBytesMax,
  imagesOrFailure,
  unreadable,
} from '../image-answer.ts';
import type {
  ImageConnection,
  ImageJob,
  ImageJobFailed,
  ImageJobResult,
  ImageProviderKind,
} from '../image-provider.ts';
import { readPollingAddress, readResultAddress, type ProviderAddress } from './hosts.ts';
import { readState } from './state.ts';

const pollFirstMs = 500;
/** Each wait is 1.5 times the last, up to this. */
const pollMaxMs = 3_000;
/** Once an image is billed, so many consecutive calls may fail before it is given up. */
const consecutiveFailuresMax = 5;
const stateBytesMax = 1_024 * 1_024;

export const bflImages: ImageProviderKind = {
  imagesPerCall: 'one',
  generate: generateWithinDeadline,
};

/**
 * Limits the time from job to image to the timeout of any answer, because `Pending` can last for
 * ever.
 */
async function generateWithinDeadline(
  job: ImageJob,
  connection: ImageConnection,
): Promise<ImageJobResult> {
  const { first_byte_ms: firstByteMs, total_ms: totalMs } = connection.provider.timeouts;
  const deadline = new AbortController();
  const cancel = job.clock.after(Math.min(firstByteMs, totalMs), () => deadline.abort());
  try {
    const signal = AbortSignal.any([job.signal, deadline.signal]);
    const result = await draw({ job, connection, signal });
    if (result.kind === 'images' || !deadline.signal.aborted || job.signal.aborted) return result;
    const late = {
      kind: 'timeout',
      status: null,
      message: 'the image was not ready in time',
    } as const;
    return { ...result, failure: { ...result.failure, ...late } };
  } finally {
    cancel();
  }
}

type ImageTask = {
  readonly job: ImageJob;
  readonly connection: ImageConnection;
  /** Aborts with the job or at its deadline. */
  readonly signal: AbortSignal;
};

async function draw(task: ImageTask): Promise<ImageJobResult> {
  const { baseUrl } = task.connection.provider;
  const submitted = await submit(task);
  if (submitted.kind === 'failure') return failedReply(submitted);
  const address = readPollingAddress(objectOf(submitted.body).polling_url, baseUrl);
  if (!address) return unreadable('the answer has no polling URL on the hosts of the provider');
  const polled = await pollUntilReady(task, address);
  if (polled.kind === 'failure') return polled;
  const result = readResultAddress(polled.sample, baseUrl);
  if (!result)
    return unreadable('the URL of the finished image is not on the hosts of the provider');
  return fetchResult(task, result);
}

function submit({ job, connection: { provider, http }, signal }: ImageTask) {
  const { upstreamModel, prompt, size, images, outputFormat } = job;
  const inputs = images.map(({ bytes }, index) => [
    index === 0 ? 'input_image' : `input_image_${index + 1}`,
    bytes.toString('base64'),
  ]);
  return http.send({
    provider,
    path: `/${encodeURIComponent(upstreamModel)}`,
    headers: keyHeader('x-key', provider.apiKey),
    body: JSON.stringify({
      prompt,
      ...size,
      output_format: outputFormat ?? 'png',
      ...Object.fromEntries(inputs),
    }),
    answerBytesMax: stateBytesMax,
    signal,
  });
}

type Polled = { readonly kind: 'ready'; readonly sample: unknown } | ImageJobFailed;

async function pollUntilReady(task: ImageTask, address: ProviderAddress): Promise<Polled> {
  const { connection, signal, job } = task;
  const { provider, http } = connection;
  const headers = keyHeader('x-key', provider.apiKey);
  let waitMs = pollFirstMs;
  for (let failures = 0; ; waitMs = Math.min(waitMs * 1.5, pollMaxMs)) {
    // An abort ends the sleep early; the next call then fails.
    await job.clock.sleep(waitMs, signal);
    const reply = await http.send({
      provider,
      method: 'GET',
      ...address,
      headers,
      body: null,
      answerBytesMax: stateBytesMax,
      signal,
    });
    if (reply.kind === 'failure') {
      if (!isTransient(reply) || signal.aborted || ++failures >= consecutiveFailuresMax)
        return failedPoll(reply);
      continue;
    }
    failures = 0;
    const state = readState(reply.body);
    if (state.kind === 'ready') return state;
    if (state.kind === 'failed') return failed(state.failure);
  }
}

/** The request was accepted and billed, so a failed poll is not the client's fault. */
function failedPoll(reply: FailedReply): ImageJobFailed {
  const { failure } = failedReply(reply);
  const blamesClient = [400, 404, 413, 422].includes(failure.status ?? 0);
  const reported = blamesClient
    ? makeFailure('unreadable', `the state of the image could not be read: ${failure.message}`)
    : failure;
  return { ...failed(reported), isTaken: true };
}

/** Sends no key: the URL carries its own permission. */
async function fetchResult(
  { connection: { provider, http }, signal, job }: ImageTask,
  address: ProviderAddress,
): Promise<ImageJobResult> {
  for (let failures = 1; ; failures++) {
    const reply = await http.send({
      provider,
      method: 'GET',
      ...address,
      headers: { accept: 'image/*' },
      body: null,
      answer: 'bytes',
      answerBytesMax: imageAnswerBytesMax,
      signal,
    });
    if (reply.kind === 'answer') return imagesOrFailure([reply.body as Buffer], 1);
    // A delivery's status says nothing about the request, so the client must not be blamed.
    if (!isTransient(reply) || signal.aborted || failures >= consecutiveFailuresMax)
      return undelivered(reply);
    await job.clock.sleep(pollMaxMs, signal);
  }
}

function undelivered(reply: FailedReply): ImageJobFailed {
  if (reply.failure.kind !== 'status') return failed(reply.failure);
  return unreadable(`the finished image could not be fetched: ${reply.failure.message}`);
}

/** Returns true for a failure that a retry may cure: it says nothing about the image. */
function isTransient({ failure: { status, kind } }: FailedReply): boolean {
  return status === null ? kind !== 'unreadable' : status === 429 || status >= 500;
}
