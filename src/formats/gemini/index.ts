// Google's generateContent, for clients and upstreams.
import { readBilledAnswer } from '../billed-answer.ts';
import type { ClientFormat, ClientRequest, UpstreamFormat } from '../format.ts';
import { inputCount } from './count-tokens.ts';
import { writeError } from './errors.ts';
import { frame } from './frame.ts';
import { isInOrder } from './pair-contents.ts';
import { parseRequest } from './parse-request.ts';
import { readAnswer } from './read-answer.ts';
import { ignoredFields, readRequest } from './read-request.ts';
import { readStream } from './read-stream.ts';
import { withoutRefused } from './refused.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayRequest } from './relay-request.ts';
import { relayStream } from './relay-stream.ts';
import type { GeminiRequest } from './schema.ts';
import { asksForReaders, asksForSearch } from './shared-credential.ts';
import { mayThink } from './thinking-config.ts';
import { readUsage } from './usage.ts';
import { toolNames } from './tools.ts';
import { emptyPart, writeAnswer } from './write-answer.ts';
import { writeRequest } from './write-request.ts';
import { writeStream } from './write-stream.ts';

/** Google's SDKs break on comments. */
const keepAlive = frame({
  candidates: [{ content: { parts: [emptyPart], role: 'model' }, index: 0 }],
});

export const gemini: ClientFormat & UpstreamFormat = {
  name: 'gemini',
  parseRequest,
  readRequest,
  ignoredFields,
  fieldNames: {
    messages: 'contents',
    response_format: 'generationConfig.responseSchema',
    stop: 'generationConfig.stopSequences',
    tool_choice: 'toolConfig.functionCallingConfig',
    service_tier: 'serviceTier',
    temperature: 'generationConfig.temperature',
    top_p: 'generationConfig.topP',
    top_k: 'generationConfig.topK',
    seed: 'generationConfig.seed',
    frequency_penalty: 'generationConfig.frequencyPenalty',
    presence_penalty: 'generationConfig.presencePenalty',
    reasoning_effort: 'generationConfig.thinkingConfig',
  },
  usageField: 'usageMetadata',
  writeAnswer,
  writeStream,
  keepAlive,
  openingKeepAlive: keepAlive,
  outputLimitField: () => 'generationConfig.maxOutputTokens',
  writeError,
  relay: {
    searchTool: ({ body }) =>
      asksForSearch(body) ? { name: 'web_search', searchesMax: null, limitField: null } : null,
    readsMore: ({ body }: ClientRequest<GeminiRequest>) =>
      asksForReaders(body) && isInOrder(body.contents),
    canRelay: ({ body }: ClientRequest<GeminiRequest>) => isInOrder(body.contents),
    writeRequest: relayRequest,
    relayAnswer,
    relayStream,
  },
  toolNames,
  writeRequest,
  // It has no field for a user or a cache.
  hideUsers: (body) => body,
  mayThink,
  readAnswer,
  readBilledAnswer: (body) =>
    readBilledAnswer(body, 'candidates', ({ usageMetadata }) => readUsage(usageMetadata)),
  readStream,
  withoutRefused,
  inputCount,
};
