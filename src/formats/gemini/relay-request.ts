// The straight path for a request: the client's body with a limited output, without what the path has
// put into it, and without other vendors' signatures, which Google would refuse.
import { isObject, type JsonObject, textOf } from '../../lib/json.ts';
import { base64Source } from '../../canonical/media-type.ts';
import { editAt, editFields, editItems } from '../edit-json.ts';
import { destinationOf } from '../destination.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { ClientRequest, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { mendSchema } from '../mend-schema.ts';
import { unofferedTier } from '../service-tiers.ts';
import { readClientSignature } from './client-signature.ts';
import { modelTraits } from './model-traits.ts';
import { streamedArguments } from './field-verdicts.ts';
import { userRoles } from './read-conversation.ts';
import type { GeminiRequest } from './schema.ts';
import { leaveOutUnsold, refuseUnshareable } from './shared-credential.ts';
import { foreignCallSignature } from './write-model-parts.ts';

/** Throws ApiError `invalid_request` on what the shared upstream credential must not pass. */
export function relayRequest(
  { body: clientBody }: ClientRequest<GeminiRequest>,
  target: UpstreamTarget,
): UpstreamRequest {
  const hasSearch = target.searchesMax !== undefined;
  const { body: lean, leftOut } = leaveOutUnsold(clientBody, { hasSearch });
  const known = refuseUnshareable(lean, destinationOf(target));
  const { labels, store, ...kept } = known;
  const { model: _model, stream: _stream, serviceTier: _tier, ...body } = kept;
  const ignored = new Set(leftOut);
  if (isAskedFor(labels)) ignored.add('labels');
  if (isAskedFor(store)) ignored.add('store');
  if (body.toolConfig?.functionCallingConfig?.streamFunctionCallArguments)
    ignored.add(streamedArguments);
  if (target.tier === 'ultrafast') throw unofferedTier(target.tier);
  const config = mendSchemas(relayConfig(body.generationConfig ?? {}, target, ignored));
  const { checksSignatures } = modelTraits(target.model);
  // Google's SDKs keep empty answers and chunks without a word in their history. Google refuses the first,
  // Vertex both: github.com/Portkey-AI/gateway/issues/462 (read 2026-11-30).
  const said = body.contents.filter(
    ({ role, parts }) => parts?.length !== 0 && !(role === 'model' && parts?.every(isBlank)),
  );
  const contents = editItems(said.length > 0 ? said : body.contents, (content) => {
    const { parts, role } = content;
    return editFields(content, {
      // Vertex wants one, and knows no others: github.com/BerriAI/litellm/issues/32731 (read 2026-11-30).
      role: userRoles.has(textOf(role) || 'user') ? 'user' : role,
      parts: Array.isArray(parts) ? relayParts(parts, { checksSignatures, ignored }) : parts,
    });
  });
  return {
    body: {
      ...body,
      ...(body.tools && { tools: mendTools(body.tools) }),
      ...(body.toolConfig && { toolConfig: withWholeCalls(body.toolConfig) }),
      contents,
      generationConfig: config,
      ...(target.tier && { serviceTier: target.tier }),
    },
    ignored: [...ignored],
  };
}

function relayConfig(
  config: JsonObject,
  { maxOutputTokens, thinking }: UpstreamTarget,
  ignored: Set<string>,
): JsonObject {
  const own = config['maxOutputTokens'];
  const limited = {
    ...config,
    maxOutputTokens: typeof own === 'number' ? Math.min(own, maxOutputTokens) : maxOutputTokens,
  };
  if (thinking || !isAskedFor(config['thinkingConfig'])) return limited;
  ignored.add('generationConfig.thinkingConfig');
  const { thinkingConfig: _, ...rest } = limited as JsonObject;
  return rest;
}

/** Readers of answers take no calls in pieces. */
function withWholeCalls(toolConfig: JsonObject): JsonObject {
  return editAt(
    toolConfig,
    ['functionCallingConfig'],
    ({ streamFunctionCallArguments: _isStreamed, ...calling }) => calling,
  );
}

const schemas = ['responseSchema', 'responseJsonSchema', 'parameters', 'parametersJsonSchema'];

/** Leaves out keywords that are null, in every schema of the object. */
function mendSchemas(holder: JsonObject): JsonObject {
  return schemas.reduce((object, name) => editAt(object, [name], mendSchema), holder);
}

function mendTools(tools: GeminiRequest['tools']): unknown {
  return editItems(tools, (tool) =>
    editFields(tool, {
      functionDeclarations: editItems(tool.functionDeclarations, mendSchemas),
    }),
  );
}

/** Corrects the type of an image or PDF by its bytes, as in translation. */
function relayMedia(part: JsonObject): JsonObject {
  const edited = editAt(part, ['functionResponse'], (result) =>
    editFields(result, { parts: editItems(result.parts, relayMedia) }),
  );
  return editAt(edited, ['inlineData'], (media) => {
    const { mimeType, data } = media;
    if (typeof mimeType !== 'string' || typeof data !== 'string') return media;
    const place = /^\s*image\//i.test(mimeType) ? 'image' : 'document';
    const source = base64Source(mimeType, data, place);
    return editFields(media, { mimeType: source.mediaType, data: source.data });
  });
}

function isBlank(part: JsonObject): boolean {
  return part['text'] === '' && Object.keys(part).length === 1;
}

type Notes = { readonly checksSignatures: boolean; readonly ignored: Set<string> };

/** Gemini 3 wants a signature on the first call of each turn, and takes a word of Google's for one. */
function relayParts(parts: readonly unknown[], { checksSignatures, ignored }: Notes): unknown {
  const firstCall = parts.findIndex((part) => isObject(part) && part.functionCall !== undefined);
  let isChanged = false;
  const relayed = parts.flatMap((one, index) => {
    if (!isObject(one)) return [one];
    const part = relayMedia(one);
    isChanged ||= part !== one;
    const given = part.thoughtSignature;
    const isForeign = typeof given === 'string' && readClientSignature(given)?.kind === 'foreign';
    const mustSign = checksSignatures && index === firstCall && (!given || isForeign);
    if (!isForeign && !mustSign) return [part];
    isChanged = true;
    if (isForeign) ignored.add('contents.parts.thoughtSignature');
    const { thoughtSignature: _, ...rest } = part;
    if (isBlank(rest)) return [];
    return [mustSign ? { ...rest, thoughtSignature: foreignCallSignature } : rest];
  });
  return isChanged ? relayed : parts;
}
