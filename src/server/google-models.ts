// The catalogue in Google's form: `GET /v1beta/models` and one of them.
import { invalidRequest } from '../canonical/errors.ts';
import type { ListedType } from '../domain/catalog/listing.ts';
import type { Handler, ServerContext } from './context.ts';
import { findListed, listedHere } from './models.ts';

/** What each type of model is called with. Others have no method in Google's form. */
const methods: Partial<Readonly<Record<ListedType, readonly string[]>>> = {
  model: ['generateContent', 'streamGenerateContent', 'countTokens'],
  embedding: ['embedContent', 'batchEmbedContents'],
};

const pageSizeMax = 1_000;
const pageSizeDefault = 50;

export function getGoogleModels(context: ServerContext): Handler {
  return async (request) => {
    const { pageSize, pageToken } = request.query as Readonly<Record<string, unknown>>;
    const all = listedHere(context, request).filter(({ type }) => methods[type]);
    const size = Math.min(readNumber('pageSize', pageSize, pageSizeDefault), pageSizeMax);
    const start = readNumber('pageToken', pageToken, 0);
    const page = all.slice(start, start + size);
    const end = start + size;
    return {
      models: page.map((entry) => writeModel(context, entry)),
      ...(end < all.length && { nextPageToken: String(end) }),
    };
  };
}

export function getGoogleModel(context: ServerContext): Handler {
  return async (request) => writeModel(context, findListed(context, request));
}

type Entry = ReturnType<typeof findListed>;

function writeModel(context: ServerContext, { id, display_name: displayName, type }: Entry) {
  const model = context.gateway.hosts.catalog.resolve(id);
  return {
    name: `models/${id}`,
    version: id,
    displayName,
    description: displayName,
    ...(model && {
      inputTokenLimit: model.maxInputTokens,
      outputTokenLimit: model.maxOutputTokens,
      thinking: model.supports.thinking,
    }),
    supportedGenerationMethods: methods[type] ?? [],
  };
}

function readNumber(name: string, value: unknown, otherwise: number): number {
  if (value === undefined || value === '') return otherwise;
  if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value) || otherwise;
  throw invalidRequest(
    name,
    `\`${name}\` must be ${name === 'pageSize' ? 'a whole number' : 'the `nextPageToken` of the page before'}.`,
  );
}
