// OpenAI's image API: generations as JSON, edits as a form, answers as base64, several images in
// one call. https://platform.openai.com/docs/api-reference/images
import { isObject, type JsonObject, objectOf, listOf, textOf } from '../../lib/json.ts';
import type { ImageBytes } from '../../lib/image.ts';
import { bearer } from '../../lib/key-headers.ts';
import { writeForm } from '../../lib/multipart.ts';
import { readAccountFailure, readOpenAiFailure } from '../account-failure.ts';
import { failedReply, imageAnswerBytesMax, imagesOrFailure } from '../image-answer.ts';
import type {
  ImageCall,
  ImageConnection,
  ImageJob,
  ImageJobResult,
  ImageProviderKind,
} from '../image-provider.ts';
import { readImageUsage } from './image-usage.ts';

export const openaiImages: ImageProviderKind = imagesWith({
  hasPartials: true,
  readFailure: readOpenAiFailure,
});
/**
 * Below its v1 address, where its images are found with this version only
 * (github.com/theopenco/llmgateway/pull/2102, read 2026-11-30).
 */
export const azureImages: ImageProviderKind = imagesWith({
  prefix: '/openai/v1',
  query: '?api-version=preview',
  hasPartials: true,
});

/**
 * GPT models always answer with base64 and refuse the parameter that asks for it, also at another host
 * (github.com/nexu-io/open-design/issues/5727, read 2026-11-30). Other models of these hosts send
 * URLs without it.
 */
export const compatibleImages: ImageProviderKind = imagesWith({ asksForBase64: true });

/** For any number of images. */
const answerBytesMax = 6 * imageAnswerBytesMax;

type Host = {
  readonly asksForBase64?: boolean;
  readonly prefix?: string;
  readonly query?: string;
  readonly hasPartials?: boolean;
  readonly readFailure?: typeof readAccountFailure;
};

function imagesWith({
  asksForBase64 = false,
  prefix = '',
  query = '',
  hasPartials,
  readFailure = readAccountFailure,
}: Host): ImageProviderKind {
  return {
    imagesPerCall: 'many',
    generate: async (job, connection) => {
      const wantsBase64 = asksForBase64 && !/gpt-image/.test(job.upstreamModel);
      const partials = hasPartials && job.partials;
      const fields = {
        ...fieldsOf(job),
        ...(wantsBase64 && { response_format: 'b64_json' }),
        ...(partials && { stream: true, partial_images: partials }),
      };
      const written = job.images.length === 0 ? writeGeneration(fields) : writeEdit(fields, job);
      const call = {
        ...written,
        path: prefix + written.path + query,
        ...restOf(job, connection, written.headers),
      };
      const { send, open } = connection.http;
      const reply = await (partials ? open(call) : send(call));
      if (!('kind' in reply)) return readEvents(reply, job);
      if (reply.kind === 'failure') return failedReply(reply, readFailure);
      return readAnswer(reply.body, job);
    },
  };
}

type Written = Pick<ImageCall, 'path' | 'headers' | 'body'>;
type Fields = Readonly<Record<string, string | number | boolean>>;

function fieldsOf({ upstreamModel, prompt, count, size, quality, outputFormat }: ImageJob): Fields {
  return {
    model: upstreamModel,
    prompt,
    n: count,
    ...(size && { size: `${size.width}x${size.height}` }),
    ...(quality && { quality }),
    ...(outputFormat && { output_format: outputFormat }),
  };
}

function writeGeneration(fields: Fields): Written {
  return {
    path: '/images/generations',
    headers: {},
    body: JSON.stringify(fields),
  };
}

function writeEdit(fields: Fields, { images, mask }: ImageJob): Written {
  const texts = Object.entries(fields).map(([name, value]) => [name, String(value)] as const);
  const fileOf = (field: string, name: string, { bytes, mediaType }: ImageBytes) => ({
    field,
    name: `${name}.${mediaType.slice('image/'.length)}`,
    mediaType,
    bytes: bytes.length,
    pieces: () => [bytes],
  });
  const files = [
    ...images.map((image, index) => fileOf('image[]', `image-${index + 1}`, image)),
    ...(mask ? [fileOf('mask', 'mask', mask)] : []),
  ];
  const { headers, bytes, pieces } = writeForm(texts, files);
  return {
    path: '/images/edits',
    headers: { ...headers, 'content-length': String(bytes) },
    body: pieces,
  };
}

function restOf(
  { signal, count }: ImageJob,
  { provider }: ImageConnection,
  headers: Written['headers'],
) {
  return {
    provider,
    headers: { ...headers, ...bearer(provider.apiKey) },
    answerBytesMax: Math.min(count * imageAnswerBytesMax, answerBytesMax),
    signal,
  };
}

/** Reads the stream of one image. Reading ends with the image, so later events cannot lose it. */
async function readEvents(
  events: AsyncIterable<JsonObject>,
  job: ImageJob,
): Promise<ImageJobResult> {
  for await (const event of events) {
    const type = textOf(event.type);
    if (type.endsWith('.partial_image')) job.show?.(textOf(event.b64_json));
    if (type.endsWith('.completed')) return readAnswer({ data: [event], usage: event.usage }, job);
  }
  return readAnswer(null, job);
}

function readAnswer(body: unknown, { count }: ImageJob): ImageJobResult {
  const data = listOf(objectOf(body).data);
  const texts = data.map((entry) => textOf(objectOf(entry).b64_json));
  const result = imagesOrFailure(
    // Some hosts write a data URL.
    texts.map((text) => Buffer.from(text.replace(/^data:[^,]{1,100},/, ''), 'base64')),
    count,
  );
  const usage = isObject(body) ? readImageUsage(body.usage) : null;
  return result.kind === 'images' && usage ? { ...result, usage } : result;
}
