// Black Forest Labs: a request is handed in, its state is asked for until the image is ready, and the image is fetched from where the
// answer says. One image a call. https://docs.bfl.ai/quick_start/generating_images
import { isObject } from '../../lib/json.ts';
import { failed, failedReply, imageAnswerBytesMax, imagesOrFailure, unreadable } from '../image-answer.ts';
import type {
  ImageConnection,
  ImageJob,
  ImageJobFailed,
  ImageJobResult,
  ImageProviderKind,
  ImageReply,
} from '../image-provider.ts';
import { readPollingAddress, readResultAddress, type OwnAddress } from './hosts.ts';
import { readState } from './state.ts';

const pollFirstMs = 500;
/** Each wait is half as long again as the one before, up to this. */
const pollMaxMs = 3_000;
/** Once an image is paid for, so many answers in a row may be lost before it is given up. */
const lostInARowMax = 5;
const stateBytesMax = 1_024 * 1_024;

export const bflImages: ImageProviderKind = { imagesPerCall: 'one', generate: withinTime };

/** From the job to its image may take as long as any answer may take to come; `Pending` can go on for ever. */
async function withinTime(job: ImageJob, connection: ImageConnection): Promise<ImageJobResult> {
  const { first_byte_ms: firstByteMs, total_ms: totalMs } = connection.provider.timeouts;
  const overdue = new AbortController();
  const cancel = job.clock.after(Math.min(firstByteMs, totalMs), () => overdue.abort());
  try {
    const signal = AbortSignal.any([job.signal, overdue.signal]);
    const result = await draw({ job, connection, signal });
    if (result.kind === 'images' || !overdue.signal.aborted || job.signal.aborted) return result;
    return {
      ...result,
      failure: { ...result.failure, kind: 'timeout', status: null, message: 'the image was not ready in time' },
    };
  } finally {
    cancel();
  }
}

type Drawing = {
  readonly job: ImageJob;
  readonly connection: ImageConnection;
  /** The job's own, and the end of its time. */
  readonly signal: AbortSignal;
};

async function draw(drawing: Drawing): Promise<ImageJobResult> {
  const { baseUrl } = drawing.connection.provider;
  const submitted = await submit(drawing);
  if (submitted.kind === 'failure') return failedReply(submitted);
  const body = submitted.kind === 'answer' && isObject(submitted.body) ? submitted.body : {};
  const address = readPollingAddress(body.polling_url, baseUrl);
  if (!address) return failed(unreadable('the answer names no address to poll on the hosts of the provider'));
  const polled = await pollUntilReady(drawing, address);
  if (polled.kind === 'failure') return polled;
  const result = readResultAddress(polled.sample, baseUrl);
  if (!result) return failed(unreadable('the finished image does not lie on the hosts of the provider'));
  return fetchResult(drawing, result);
}

function submit({ job, connection: { provider, http }, signal }: Drawing): Promise<ImageReply> {
  const { upstreamModel, prompt, size, images, outputFormat } = job;
  const inputs = images.map(({ bytes }, index) => [
    index === 0 ? 'input_image' : `input_image_${index + 1}`,
    bytes.toString('base64'),
  ]);
  return http.send({
    provider,
    method: 'POST',
    path: `/${encodeURIComponent(upstreamModel)}`,
    headers: { 'content-type': 'application/json', ...keyHeader(provider.apiKey) },
    body: JSON.stringify({ prompt, ...size, output_format: outputFormat ?? 'png', ...Object.fromEntries(inputs) }),
    answer: 'json',
    answerBytesMax: stateBytesMax,
    signal,
  });
}

type Polled = { readonly kind: 'ready'; readonly sample: unknown } | ImageJobFailed;

async function pollUntilReady(drawing: Drawing, { origin, path }: OwnAddress): Promise<Polled> {
  const { connection, signal, job } = drawing;
  const { provider, http } = connection;
  const headers = keyHeader(provider.apiKey);
  let waitMs = pollFirstMs;
  for (let lost = 0; ; waitMs = Math.min(waitMs * 1.5, pollMaxMs)) {
    // It ends early when the signal aborts; the next call finds out.
    await job.clock.sleep(waitMs, signal);
    const call = { provider, method: 'GET', origin, path, headers, body: null, answer: 'json', signal } as const;
    const reply = await http.send({ ...call, answerBytesMax: stateBytesMax });
    if (reply.kind === 'failure') {
      if (!isPassing(reply) || signal.aborted || ++lost >= lostInARowMax) return failedPoll(reply);
      continue;
    }
    lost = 0;
    const state = readState(reply.kind === 'answer' ? reply.body : null);
    if (state.kind === 'ready') return state;
    if (state.kind === 'failed') return failed(state.failure);
  }
}

/** The request itself was taken, and paid for: what is wrong with asking for its state is not the client's doing. */
function failedPoll(reply: Extract<ImageReply, { kind: 'failure' }>): ImageJobFailed {
  const { failure } = failedReply(reply);
  const isCallersOwn = failure.status === 400 || failure.status === 404 || failure.status === 413 || failure.status === 422;
  return failed(isCallersOwn ? unreadable(`the state of the image could not be read: ${failure.message}`) : failure);
}

/** Without the key: the address carries its own permission. */
async function fetchResult(
  { connection: { provider, http }, signal, job }: Drawing,
  address: OwnAddress,
): Promise<ImageJobResult> {
  for (let lost = 1; ; lost++) {
    const call = { provider, method: 'GET', ...address, headers: { accept: 'image/*' }, body: null, signal } as const;
    const reply = await http.send({ ...call, answer: 'bytes', answerBytesMax: imageAnswerBytesMax });
    if (reply.kind === 'bytes') return imagesOrFailure([reply.bytes], 1);
    if (reply.kind === 'answer') return failed(unreadable('JSON came where an image was asked for'));
    // No status of a delivery says anything about the request: a client must not be told that it is at fault.
    if (!isPassing(reply) || signal.aborted || lost >= lostInARowMax) return undelivered(reply);
    await job.clock.sleep(pollMaxMs, signal);
  }
}

function undelivered(reply: Extract<ImageReply, { kind: 'failure' }>): ImageJobFailed {
  if (reply.failure.kind !== 'status') return failed(reply.failure);
  return failed(unreadable(`the finished image could not be fetched: ${reply.failure.message}`));
}

/** What the next try may not meet: nothing was said about the image. */
function isPassing({ failure: { status, kind } }: Extract<ImageReply, { kind: 'failure' }>): boolean {
  return status === null ? kind !== 'unreadable' : status === 429 || status >= 500;
}

function keyHeader(apiKey: string | null): Readonly<Record<string, string>> {
  return apiKey === null ? {} : { 'x-key': apiKey };
}
