// Tries a provider before it is used: its list of models, one short answer, one short stream. The two
// answers cost the operator a few tokens.
import { findKnownProvider } from '../../config/known-providers.ts';
import type { Config } from '../../config/schema.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { type CanonicalRequest, emptyRequest } from '../../canonical/request.ts';
import type { Usage } from '../../canonical/usage.ts';
import { readErrorMessage } from '../../formats/error-message.ts';
import { fitToHost } from '../../formats/fit-to-host.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { SseParser } from '../../lib/sse.ts';
import {
  modelListOf,
  readModelList,
  type ListedModel,
} from '../../domain/catalog/provider-models.ts';
import { chatProviderKinds } from '../../providers/registry.ts';
import type { Clock } from '../../lib/clock.ts';
import { isChatKind } from '../../terms/provider-kind.ts';
import { credentialTools } from '../calling/credential-tools.ts';
import { withoutKey } from '../calling/failure-message.ts';
import type { FailedReply } from '../../canonical/make-failure.ts';
import type { Upstreams } from '../calling/upstreams.ts';
import { accessBy, placeOf } from '../routing/providers.ts';
import { formatsAt } from '../routing/route.ts';
import { remedyFor } from './provider-remedies.ts';

type Step = {
  readonly step: 'models' | 'answer' | 'stream';
  /** null: it was not tried, because the kind of provider has none, or no model was named. */
  readonly works: boolean | null;
  /** What was found, or the provider's own words. */
  readonly what: string;
};

export type ProviderTest = {
  readonly steps: readonly Step[];
  /** Empty when it lists none. */
  readonly models: readonly ListedModel[];
  /** Of each answer, as far as the provider said. */
  readonly usages: readonly Usage[];
};

type Provider = Config['providers'][string];

type Parts = { readonly upstreams: Upstreams; readonly clock: Clock };

type Named = {
  readonly name: string;
  readonly provider: Provider;
};

type Tested = Named & {
  /** The provider's id of the model that answers; null: no answer is asked for. */
  readonly model: string | null;
};

/** How long each step may take. */
const stepMs = 20_000;
const timeouts = {
  connect_ms: 5_000,
  first_byte_ms: stepMs,
  idle_ms: stepMs,
  total_ms: stepMs,
} as const;
/** The timeouts above end each step. */
const neverAborted = new AbortController().signal;
/** Some models think before they write, and refuse a smaller limit. */
const outputTokensMax = 64;

export async function testProvider(
  parts: Parts,
  { model, ...named }: Tested,
): Promise<ProviderTest> {
  const test = openTest(parts, named);
  const { provider } = test;
  try {
    const { step, models } = await askForModels(test);
    if (!isChatKind(provider.kind) || model === null) {
      const skipped = (which: Step['step']): Step => ({
        step: which,
        works: null,
        what: isChatKind(provider.kind) ? 'no model was named' : 'this kind runs no chat models',
      });
      return { steps: [step, skipped('answer'), skipped('stream')], models, usages: [] };
    }
    const call = callOf(named.name, { ...provider, kind: provider.kind }, model);
    const answer = await ask(test, call, 'answer');
    const stream = await ask(test, call, 'stream');
    return {
      steps: [step, answer.step, stream.step],
      models,
      usages: [answer.usage, stream.usage].filter((usage) => usage !== null),
    };
  } finally {
    parts.upstreams.retire(test.target.name);
  }
}

export type ModelsListed = {
  readonly step: Step;
  readonly models: readonly ListedModel[];
  /** With the provider's own words; null: it answered. */
  readonly failure: Pick<FailedReply['failure'], 'status' | 'message'> | null;
};

/** Asks for the list of models alone, which is free of charge. */
export function listModels(parts: Parts, named: Named): Promise<ModelsListed> {
  return askForModels(openTest(parts, named));
}

/** The connections of this test alone, and the provider with a key that is sent as it is. */
function openTest(parts: Parts, { name, provider }: Named) {
  const { apiKey, credential } = accessBy(provider, credentialTools(name, parts));
  const target = { name: `${name} (test)`, baseUrl: provider.base_url, credential };
  const { upstreams } = parts;
  return { upstreams, target, name, provider: { ...provider, api_key: apiKey } };
}

type Test = ReturnType<typeof openTest>;

async function askForModels({ upstreams, target, name, provider }: Test): Promise<ModelsListed> {
  const asked = modelListOf(name, provider);
  const listed = (works: boolean | null, what: string, more: Partial<ModelsListed> = {}) => ({
    step: { step: 'models', works, what } as const,
    models: [],
    failure: null,
    ...more,
  });
  if (!asked) return listed(null, 'this kind lists no models');
  const reply = await upstreams.send({
    provider: target,
    method: 'GET',
    ...asked,
    body: null,
    stream: false,
    timeouts,
    signal: neverAborted,
    answerBytesMax: 4 * 1024 * 1024,
  });
  if (reply.kind === 'failure') {
    const { status } = reply.failure;
    const message = messageOf(reply, provider).slice(0, 500);
    return listed(false, wordsOf(reply, provider), { failure: { status, message } });
  }
  const models = readModelList(reply.body);
  return models
    ? listed(true, `${models.length} models`, { models })
    : listed(false, 'the answer is no list of models');
}

type TestCall = ReturnType<typeof callOf>;

function callOf(
  name: string,
  settings: Provider & { kind: keyof typeof chatProviderKinds },
  model: string,
) {
  const { kind, api_key: apiKey } = settings;
  const code = chatProviderKinds[kind];
  const format = upstreamFormats[formatsAt(code, model)[0]!];
  const known = findKnownProvider(name, settings);
  const wishes = (format.name === 'chat' && known?.wishes) || {};
  const write = (stream: boolean) => {
    const target = {
      model,
      stream,
      maxOutputTokens: Math.max(outputTokensMax, format.outputTokensMin ?? 1),
      thinking: false,
      isOpenAi: code.isOpenAi ?? false,
    };
    const { body } = fitToHost(format.writeRequest(question, target).body, wishes);
    const sent = { format: format.name, target, client: {}, ignored: new Set<string>() };
    return {
      path: code.path(format.name, target, placeOf(settings)),
      headers: code.headers(apiKey, {}),
      body: JSON.stringify(code.adaptBody?.(body, sent) ?? body),
    };
  };
  return { code, format, write };
}

const question: CanonicalRequest = {
  ...emptyRequest,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Answer with the word: ready' }] }],
  maxOutputTokens: outputTokensMax,
};

type Asked = { readonly step: Step; readonly usage: Usage | null };

/** Asks for one answer, whole or as a stream. */
async function ask(
  { upstreams, target, provider }: Test,
  { code, format, write }: TestCall,
  step: 'answer' | 'stream',
): Promise<Asked> {
  const said = (works: boolean, what: string, usage: Usage | null = null) => ({
    step: { step, works, what },
    usage,
  });
  const stream = step === 'stream';
  const call = { provider: target, ...write(stream), stream, timeouts, signal: neverAborted };
  const reply = await upstreams.send(call);
  if (reply.kind === 'failure') return said(false, wordsOf(reply, provider));
  if (reply.kind === 'answer') {
    const billed = format.readBilledAnswer(code.shownAnswer?.(reply.body) ?? reply.body);
    return billed
      ? said(true, 'it answered', billed.usage)
      : said(false, 'the answer cannot be read');
  }
  const reader = format.readStream();
  const parser = new SseParser();
  const failed = await firstError(async function* () {
    for await (const bytes of code.toServerSentEvents?.(reply.chunks) ?? reply.chunks)
      for (const event of parser.push(bytes)) yield* reader.push(event);
    for (const event of parser.end()) yield* reader.push(event);
    yield* reader.end();
  });
  const what = failed === null ? 'it streamed' : withoutKey(failed, provider.api_key).slice(0, 500);
  return said(failed === null, what, reader.usageSoFar);
}

/** Returns why the stream failed; null: it did not. */
async function firstError(events: () => AsyncIterable<StreamEvent>): Promise<string | null> {
  try {
    for await (const event of events()) if (event.type === 'error') return event.failure.message;
    return null;
  } catch (error) {
    return `the stream broke off: ${(error as Error).message}`;
  }
}

/** The provider's own words, cut to what fits a page, and what helps. */
function wordsOf(reply: FailedReply, provider: Provider): string {
  const words = messageOf(reply, provider);
  const { status } = reply.failure;
  const remedy = remedyFor(words);
  return (
    ((status === null ? '' : `${status}: `) + words).slice(0, 500) +
    (remedy === null ? '' : ` (${remedy})`)
  );
}

/** Some providers and proxies repeat the key that they refuse. */
function messageOf({ failure, body }: FailedReply, { api_key: apiKey }: Provider): string {
  return withoutKey(readErrorMessage(body) ?? failure.message, apiKey);
}
