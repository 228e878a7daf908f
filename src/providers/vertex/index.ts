// Google Vertex AI: Gemini in its own format, Claude in Anthropic's (`rawPredict`), and the models of
// other vendors in Chat, all below a project and a location.
// https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest
import type { ForwardableHeaders, HttpProviderKind } from '../provider.ts';
import { readFailure } from '../google/failure.ts';
import type { InputCount, UpstreamTarget } from '../../formats/format.ts';
import { inputCount as geminiCount } from '../../formats/gemini/count-tokens.ts';
import { leaveOutServerCalls } from '../../formats/gemini/server-calls.ts';
import { allowedBetas } from '../../formats/messages/betas.ts';
import { inputCount } from '../../formats/messages/count-tokens.ts';
import { unofferedTier } from '../../formats/service-tiers.ts';
import type { JsonObject } from '../../lib/json.ts';
import { keyHeader } from '../../lib/key-headers.ts';
import { asCloudBody, cloudBetas, withoutOption } from '../claude-on-clouds.ts';
import { openCredential } from './credential.ts';
import { locationOf, modelPath } from './paths.ts';

const claudeThere = { cloud: 'Vertex', version: 'vertex-2023-10-16', takesStrict: false };

/**
 * Counting has one path for all models, so its body names the model: without its version, which is refused
 * there (github.com/BerriAI/litellm/issues/25798, read 2026-11-30).
 */
const claudeCount: InputCount = {
  write: (body, model) => ({ model: model.replace(/@.*/, ''), ...inputCount.write(body, model) }),
  read: inputCount.read,
};

/** The Gemini API takes a whole request in one field; this takes a part of its fields. */
const geminiCountThere: InputCount = {
  write: ({ contents, systemInstruction, tools, generationConfig }) => ({
    contents,
    systemInstruction,
    tools,
    generationConfig,
  }),
  read: geminiCount.read,
};

export const vertex: HttpProviderKind = {
  kind: 'vertex',
  formatsOf: (model) => {
    if (/claude/.test(model)) return ['messages'];
    // `google/gemini-…` is its name in Chat.
    return /^(?:gemini|gemma|[0-9]+$)/.test(model) ? ['gemini'] : ['chat'];
  },
  path: (format, { model, stream }, place) => {
    if (format === 'messages')
      return (
        modelPath('v1', 'anthropic', model, place) + (stream ? ':streamRawPredict' : ':rawPredict')
      );
    if (format === 'chat') return `/v1${locationOf(place)}/endpoints/openapi/chat/completions`;
    const call = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    return `${modelPath('v1beta1', 'google', model, place)}:${call}`;
  },
  countTokensPath: (model, format, place) => {
    // Only with a project; an express key has none.
    if (format === 'messages')
      return `${modelPath('v1', 'anthropic', 'count-tokens', place)}:rawPredict`;
    return format === 'gemini'
      ? `${modelPath('v1beta1', 'google', model, place)}:countTokens`
      : null;
  },
  headers: (apiKey, client, target) => ({
    ...betasOf(client),
    ...tierHeaders(target?.tier),
    // An express key; a token comes from the credential.
    ...keyHeader('x-goog-api-key', apiKey),
  }),
  readFailure,
  inputCounts: { messages: claudeCount, gemini: geminiCountThere },
  betas: cloudBetas.vertex,
  adaptBody: (body, { format, target, ignored }) => {
    if (format === 'messages') return asClaudeThere(body, ignored);
    // Its Chat does not say which tier has answered.
    if (format === 'chat') {
      if (target.tier) throw unofferedTier(target.tier);
      return body;
    }
    const { serviceTier: _, ...rest } = body;
    const { body: lean, leftOut } = leaveOutServerCalls(rest);
    for (const name of leftOut) ignored.add(name);
    return lean;
  },
  openCredential,
};

/**
 * It refuses the AI SDK's wish to stream inputs early (github.com/anomalyco/opencode/issues/24562,
 * read 2026-11-30).
 */
function asClaudeThere(body: JsonObject, ignored: Set<string>): JsonObject {
  const there = asCloudBody(body, claudeThere, ignored);
  const tools = withoutOption(there.tools, 'eager_input_streaming', ignored);
  return { ...there, ...(tools !== undefined && { tools }) };
}

/**
 * Headers name the tier (github.com/google-gemini/gemini-cli, contentGenerator.ts, read 2026-11-29).
 * Other locations than `global` ignore them: the answer's `trafficType` says which tier it was.
 */
function tierHeaders(tier: UpstreamTarget['tier']): Readonly<Record<string, string>> {
  if (!tier) return {};
  return {
    'x-vertex-ai-llm-request-type': 'shared',
    'x-vertex-ai-llm-shared-request-type': tier,
  };
}

function betasOf(client: ForwardableHeaders): Readonly<Record<string, string>> {
  const betas = allowedBetas(client['anthropic-beta'], cloudBetas.vertex);
  return betas === '' ? {} : { 'anthropic-beta': betas };
}
