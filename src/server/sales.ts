// Everything that is sold, a line each.
import { batchPaths } from '../terms/batch.ts';
import type { ChargedPath } from '../terms/charged-endpoints.ts';
import type { KeyScope } from '../terms/key-scope.ts';
import { clientFormats } from '../formats/registry.ts';
import { completions } from '../formats/chat/completions.ts';
import { compactResponses } from '../formats/responses/compact.ts';
import {
  batchEmbedContentsEndpoint,
  embedContentEndpoint,
  embeddingEndpoint,
} from '../gateway/tasks/embedding-sale.ts';
import { geminiEndpoint } from '../gateway/sales/gemini-sale.ts';
import { imageEditEndpoint, imageEndpoint } from '../gateway/sales/image-sale.ts';
import { modelEndpoint } from '../gateway/sales/model-sale.ts';
import { moderationEndpoint } from '../gateway/tasks/moderation-sale.ts';
import { rerankEndpoint } from '../gateway/tasks/rerank-sale.ts';
import { searchEndpoint } from '../gateway/sales/search-sale.ts';
import { speechEndpoint } from '../gateway/tasks/speech-sale.ts';
import { transcriptionEndpoint } from '../gateway/tasks/transcription-sale.ts';
import type { Endpoint } from '../gateway/stages.ts';
import type { Route } from './route.ts';
import type { Operation } from '../reference/operation.ts';
import type { PublicOperation } from '../reference/reference.ts';

type Options = Pick<Route, 'queryKey' | 'modelInPath' | 'form' | 'isUpload' | 'heavy'> & {
  readonly endpoint: Endpoint;
  /** The scope that the key needs. Default: `run`. */
  readonly auth?: KeyScope;
};

/**
 * Described in the table of the reference, or, while it is an experiment, by its own line: then it
 * is in the document that is served, but not in docs/openapi.json.
 */
type Url =
  | {
      readonly url: ChargedPath &
        (PublicOperation extends `${infer _} ${infer Path}` ? Path : never);
      readonly operation?: never;
    }
  | { readonly url: string; readonly operation: Operation };

export const sales: (Options & Url)[] = [
  { url: '/v1/responses', endpoint: modelEndpoint(clientFormats.responses), queryKey: 'api_key' },
  { url: '/v1/responses/compact', endpoint: modelEndpoint(compactResponses) },
  { url: '/v1/chat/completions', endpoint: modelEndpoint(clientFormats.chat) },
  { url: '/v1/completions', endpoint: modelEndpoint(completions) },
  { url: '/v1/messages', endpoint: modelEndpoint(clientFormats.messages) },
  {
    url: '/v1beta/generateContent/*',
    endpoint: geminiEndpoint,
    queryKey: 'key',
    modelInPath: 'whole',
  },
  {
    url: '/v1beta/streamGenerateContent/*',
    endpoint: geminiEndpoint,
    queryKey: 'key',
    modelInPath: 'stream',
  },
  { url: '/v1/embeddings', endpoint: embeddingEndpoint },
  {
    url: '/v1beta/embedContent/*',
    endpoint: embedContentEndpoint,
    queryKey: 'key',
    modelInPath: 'whole',
  },
  {
    url: '/v1beta/batchEmbedContents/*',
    endpoint: batchEmbedContentsEndpoint,
    queryKey: 'key',
    modelInPath: 'whole',
  },
  { url: '/v1/audio/speech', endpoint: speechEndpoint },
  { url: '/v1/rerank', endpoint: rerankEndpoint },
  { url: '/v2/rerank', endpoint: rerankEndpoint },
  { url: '/v1/moderations', endpoint: moderationEndpoint },
  {
    url: '/v1/audio/transcriptions',
    endpoint: transcriptionEndpoint('transcriptions'),
    isUpload: true,
  },
  {
    url: '/v1/audio/translations',
    endpoint: transcriptionEndpoint('translations'),
    isUpload: true,
  },
  { url: '/v1/images/generations', endpoint: imageEndpoint, auth: 'images', heavy: true },
  { url: '/v1/images/edits', endpoint: imageEditEndpoint, auth: 'images', heavy: true, form: true },
  { url: '/v1/web-search', endpoint: searchEndpoint },
];

const pathsOfLines: readonly string[] = [...batchPaths.openai, ...batchPaths.anthropic];

/** The endpoints that lines of batches may use, by path. */
export const batchEndpoints: Readonly<Record<string, Endpoint>> = Object.fromEntries(
  sales.flatMap(({ url, endpoint }) => (pathsOfLines.includes(url) ? [[url, endpoint]] : [])),
);

/** The operations that the lines describe themselves. */
export function ownDescriptions(): Readonly<Record<string, Operation>> {
  return Object.fromEntries(
    sales.flatMap(({ url, operation }) => (operation ? [[`POST ${url}`, operation]] : [])),
  );
}
