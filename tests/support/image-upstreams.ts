// Image providers played by a local upstream: OpenAI, Black Forest Labs and Gemini.
import { gif, png } from './images/local-image-provider.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  type LocalUpstream,
  type Script,
} from './upstream.ts';

export const imagePaths = {
  generations: '/v1/images/generations',
  edits: '/v1/images/edits',
  gemini: '/v1beta/models/gemini-nano-banana-2.1:generateContent',
  bfl: (model = 'flux-2-pro') => `/bfl/v1/${model}`,
  bflState: '/bfl/v1/get_result',
  bflImage: '/bfl/v1/delivery.png',
} as const;

/** The `bfl` provider for a configuration; the test gateway has none by default. */
export function bflAt({ url }: LocalUpstream, apiKey: string): object {
  return { kind: 'bfl', base_url: `${url}/bfl/v1`, api_key: apiKey };
}

export const inputs = [png, gif].map(
  (bytes) => `data:image/png;base64,${bytes.toString('base64')}`,
);

/** Every provider draws the requested images, each in its own protocol. */
export function playImageProviders(upstream: LocalUpstream): void {
  upstream.on(imagePaths.generations, openaiDraws());
  upstream.on(imagePaths.edits, openaiDraws());
  upstream.on(imagePaths.gemini, geminiDraws);
  upstream.on(imagePaths.bfl(), bflTakes(upstream));
  upstream.on(imagePaths.bflState, bflReady(upstream));
  upstream.on(imagePaths.bflImage, answerPng);
}

/**
 * Draws as many images as requested, or `count`. `usage` is sent unchanged. A stream first shows as many
 * as were asked for.
 */
export function openaiDraws(count?: number, usage?: unknown): Script {
  return (response, request) => {
    const partials = partialsAsked(request.body);
    if (partials > 0) {
      const b64_json = png.toString('base64');
      const shown = Array.from({ length: partials }, (_, partial_image_index) => ({
        data: { type: 'image_generation.partial_image', b64_json, partial_image_index },
      }));
      const completed = { data: { type: 'image_generation.completed', b64_json, usage } };
      return answerSse([...shown, completed])(response, request);
    }
    const length = count ?? countAsked(request.body);
    const data = Array.from({ length }, () => ({ b64_json: png.toString('base64') }));
    return answerJson({ created: 1, data, ...(usage !== undefined && { usage }) })(
      response,
      request,
    );
  };
}

export const geminiDraws: Script = answerJson({
  candidates: [
    {
      content: { parts: [{ inlineData: { mimeType: 'image/png', data: png.toString('base64') } }] },
      finishReason: 'STOP',
    },
  ],
});

export const geminiRefuses: Script = answerJson({ promptFeedback: { blockReason: 'SAFETY' } });

export function bflTakes({ url }: LocalUpstream): Script {
  return answerJson({ id: 'task', polling_url: `${url}${imagePaths.bflState}?id=task` });
}

export function bflReady({ url }: LocalUpstream): Script {
  return answerJson({
    id: 'task',
    status: 'Ready',
    result: { sample: `${url}${imagePaths.bflImage}?signature=x` },
  });
}

export const bflPending: Script = answerJson({ id: 'task', status: 'Pending' });
export const bflModerated: Script = answerJson({ id: 'task', status: 'Content Moderated' });

export const openaiModerates: Script = answerStatus(400, {
  body: {
    error: {
      code: 'moderation_blocked',
      message: 'Your request was rejected by the safety system.',
    },
  },
});

const answerPng: Script = (response) => {
  response.writeHead(200, { 'content-type': 'image/png' }).end(png);
};

/** Reads the request: JSON for a generation, a form for an edit. */
function countAsked(body: unknown): number {
  if (typeof body === 'string') return Number(/name="n"\r\n\r\n(\d+)/.exec(body)?.[1]);
  return (body as { n: number }).n;
}

function partialsAsked(body: unknown): number {
  if (typeof body !== 'string') return (body as { partial_images?: number }).partial_images ?? 0;
  return Number(/name="partial_images"\r\n\r\n(\d+)/.exec(body)?.[1] ?? 0);
}
