// The code that the API reference shows beside its calls.
import { callsOf, type ApiDocument } from '../../docs-site/client/reference/document.ts';
import { exampleRequest } from '../../docs-site/client/reference/request.ts';
import { languages, type LanguageName } from '../../docs-site/client/reference/samples.ts';
import type { TestGateway } from './gateway.ts';

type CallSample = { readonly id: string; readonly path: string; readonly code: string };

/** Samples that are run, with a part of the answer to a test key. */
const mainCalls: Readonly<Record<string, string>> = {
  createResponse: 'response.completed',
  compactResponse: '"compaction"',
  createChatCompletion: '[DONE]',
  createMessage: 'message_stop',
  createImage: '/v1/images/files/',
  searchWeb: 'HTTP status 402',
  countMessageTokens: '"input_tokens"',
  countResponseTokens: '"input_tokens"',
  listModels: '"gpt-6-luna"',
  listModelInfo: '"input_price_per_1m"',
  getModel: '"gpt-6-luna"',
  getBalance: '"balance',
  listUsage: '"data"',
  getPromptCacheUsage: '"rows"',
};

/** Returns the sample of every call that the gateway describes. */
export async function readSamples(
  gateway: TestGateway,
  language: LanguageName,
): Promise<readonly CallSample[]> {
  const api = (await gateway.get('/openapi.json')).json<ApiDocument>();
  return callsOf(api).flatMap((call) => {
    const request = exampleRequest(api, call, gateway.url);
    if (!request) return [];
    return [{ id: call.operationId, path: call.path, code: languages[language].write(request) }];
  });
}

/** Returns those that can be run, as samples of a guide. */
export async function readMainSamples(gateway: TestGateway, language: LanguageName) {
  const samples = await readSamples(gateway, language);
  return Object.entries(mainCalls).map(([id, output]) => {
    const { code } = samples.find((sample) => sample.id === id)!;
    return { place: `${id} in ${language}`, code, output };
  });
}
