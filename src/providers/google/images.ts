// Gemini's image models: `generateContent` with an `imageConfig`. Input and output images are
// inline base64, one image a call. https://ai.google.dev/gemini-api/docs/image-generation
import { makeFailure } from '../../canonical/make-failure.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { isObject, type JsonObject, objectOf, listOf, objectsOf } from '../../lib/json.ts';
import { keyHeader } from '../../lib/key-headers.ts';
import {
  failed,
  failedReply,
  imageAnswerBytesMax,
  imagesOrFailure,
  refused,
} from '../image-answer.ts';
import type { ImageJob, ImageJobResult, ImageProviderKind } from '../image-provider.ts';
import { readFailure } from './failure.ts';

export const googleImages: ImageProviderKind = {
  imagesPerCall: 'one',
  generate: async (job, { provider, http }) => {
    const reply = await http.send({
      provider,
      path: `/v1beta/models/${encodeURIComponent(job.upstreamModel)}:generateContent`,
      headers: keyHeader('x-goog-api-key', provider.apiKey),
      body: JSON.stringify(writeBody(job)),
      // A thinking model sends its drafts too.
      answerBytesMax: 2 * imageAnswerBytesMax,
      signal: job.signal,
    });
    if (reply.kind === 'failure') return failedReply(reply, readFailure);
    return readAnswer(reply.body);
  },
};

function writeBody({ prompt, images, aspectRatio, resolution }: ImageJob): JsonObject {
  const inputs = images.map(({ bytes, mediaType }) => ({
    inlineData: { mimeType: mediaType, data: bytes.toString('base64') },
  }));
  return {
    contents: [{ role: 'user', parts: [{ text: prompt }, ...inputs] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      imageConfig: {
        ...(aspectRatio && { aspectRatio }),
        ...(resolution && { imageSize: resolution.toUpperCase() }),
      },
    },
  };
}

function readAnswer(body: unknown): ImageJobResult {
  const answer = objectOf(body);
  const candidate = listOf(answer.candidates)[0];
  const parts = partsOf(candidate);
  const files = parts.flatMap(({ inlineData }) =>
    isObject(inlineData) && typeof inlineData.data === 'string'
      ? [Buffer.from(inlineData.data, 'base64')]
      : [],
  );
  // The last of several is the finished one.
  if (files.length > 0) return imagesOrFailure(files.slice(-1), 1);
  const words = parts.map(({ text }) => textOf(text) ?? '').join('');
  const failure = failureWithoutImage(answer, objectOf(candidate), words);
  return words.length <= refusalCharactersMax
    ? failed(failure)
    : { ...failed({ ...failure, isCausedByAccount: true }), isTaken: true };
}

/**
 * More words are no refusal but an answer, written because the prompt asked for it. It is billed
 * about as much as an image.
 */
const refusalCharactersMax = 2_000;

/** The parts of the answer, without thoughts, which may hold drafts of the image. */
function partsOf(candidate: unknown): JsonObject[] {
  const content = objectOf(objectOf(candidate).content);
  return objectsOf(content.parts).filter(({ thought }) => thought !== true);
}

/** Reasons that do not judge the request: the upstream itself does not know, or gave up. */
const faults = new Set([
  'OTHER',
  'IMAGE_OTHER',
  'FINISH_REASON_UNSPECIFIED',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
]);

/**
 * The failure behind a success status without an image: the prompt or the image was blocked, or the
 * model answered in words.
 */
function failureWithoutImage(
  { promptFeedback }: JsonObject,
  candidate: JsonObject,
  words: string,
): UpstreamFailure {
  if (isObject(promptFeedback) && typeof promptFeedback.blockReason === 'string') {
    const message =
      textOf(promptFeedback.blockReasonMessage) ?? 'the provider does not draw this prompt';
    return refused(`${message} (${promptFeedback.blockReason})`);
  }
  const { finishReason } = candidate;
  if (typeof finishReason !== 'string' || faults.has(finishReason))
    return makeFailure('unreadable', 'the answer holds no image');
  const message =
    textOf(candidate.finishMessage) ??
    textOf(words) ??
    'the provider made no image of this request';
  return refused(`${message} (${finishReason})`);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
