// Batches that the gateway passes to providers' own batch APIs: a gateway with such providers, clients in
// both forms, and what became of the lines and the money. What a provider bills is what the account pays
// and the operator loses.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { wholeAnswer } from './answers.ts';
import {
  BatchProvider,
  modelAt,
  settingsOf,
  stepOf,
  type Answer,
  type Fault,
  type HostForm,
} from './batch-provider.ts';
import { startGateway, type KeyOptions, type TestGateway } from './gateway.ts';
import { until } from './until.ts';
import type { Script } from './upstream.ts';
import { rowOf, rowsOf } from './rows.ts';

export type Form = 'openai' | 'anthropic';
export const creditUsd = 10;
export const tokens = { input: 10, output: 5 };
/** At a microdollar for each token of the input, and two for each of the output, in a batch. */
export const full = { input: 2, output: 4 };
const prices = { ...full, service_tiers: { priority: full }, batch: 0.5 };
export const costMicros = tokens.input + 2 * tokens.output;
export const prompts = ['one', 'two', 'fail', 'four'];

export const good = ['succeeded', 'succeeded', '400', 'succeeded'];
export const isCreate = (asked: Asked) => stepOf(asked)?.step === 'create';
export const isList = (asked: Asked) => stepOf(asked)?.step === 'list';
export const isLook = (asked: Asked) => stepOf(asked)?.step === 'look';
export const isRead = ({ method, path }: Asked) =>
  method === 'GET' && /\/(results|content)$|\.jsonl(\.out)?$/.test(path);
export type Asked = Parameters<Script>[1];
/** Answers the first such request so. */
export const once = (matches: (asked: Asked) => boolean, script: Script) => {
  let isDone = false;
  return (asked: Asked) => {
    if (isDone || !matches(asked)) return null;
    isDone = true;
    return script;
  };
};
/** As `once`, for each of them in turn. */
export const inTurn =
  (...faults: readonly ((asked: Asked) => Fault)[]) =>
  (asked: Asked) =>
    faults.map((fault) => fault(asked)).find(Boolean) ?? null;

export type Made = Awaited<ReturnType<TestGateway['makeKey']>>;

/**
 * Starts a gateway with a provider for each id, and a model of the same name there. Azure, Mistral
 * and xAI are known by their name. Its tests stop it.
 * `models`, `credentials`: further ones.
 */
export async function startPassing(
  forms: Readonly<Record<string, HostForm>>,
  models: object = {},
  credentials: object = {},
) {
  const ids = Object.keys(forms);
  const gateway = await startGateway(
    ({ url }) => ({
      providers: {
        ...Object.fromEntries(
          Object.entries(forms).map(([id, form]) => {
            const address = `${url}/${id}`;
            const azure = id.includes('azure') && { kind: 'azure', base_url: address };
            return [id, { ...settingsOf(form, address), ...azure }];
          }),
        ),
        ...credentials,
      },
      models: {
        ...Object.fromEntries(
          ids.map((id) => [
            id,
            { prices, routes: [{ provider: id, model: modelAt(forms[id]!, id) }] },
          ]),
        ),
        ...models,
      },
    }),
    {
      tuning: {
        failuresMax: 1_000,
        ejectionMsMax: 1,
        batchPollMs: 200,
        bedrockLinesMin: prompts.length,
      },
    },
  );
  after(() => gateway.stop());
  const { upstream, database } = gateway;
  const providers = new Map(ids.map((id) => [id, new BatchProvider(answerByPrompt)]));
  upstream.on('*', (response, request) => {
    const [, id, path] = /^\/([\w-]+)(?:\/openai)?(\/.*)$/.exec(request.path)!;
    return providers.get(id!)!.script(response, { ...request, path: path! });
  });

  const newKey = (options: KeyOptions = {}) => gateway.makeKey({ creditUsd, ...options });
  const openAi = ({ key }: Pick<Made, 'key'>) =>
    new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = ({ key }: Pick<Made, 'key'>) =>
    new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 });

  /** Looks at batches at providers now, as if their time had come. */
  async function hurry(): Promise<void> {
    await database.write.updateTable('sent_batches').set({ due_at_ms: 1 }).execute();
  }

  /** The client's form, which may be another than the provider's. */
  const clients = {
    async openai(made: Made, model: string, fields: object = {}) {
      const lines = prompts.map((prompt) =>
        JSON.stringify({
          custom_id: prompt,
          method: 'POST',
          url: '/v1/chat/completions',
          body: {
            model,
            max_completion_tokens: 100,
            messages: [{ role: 'user', content: prompt }],
            ...fields,
          },
        }),
      );
      const client = openAi(made);
      const file = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl');
      const { id } = await client.batches.create({
        input_file_id: (await client.files.create({ purpose: 'batch', file })).id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      });
      return id;
    },
    async anthropic(made: Made, model: string, fields: object = {}) {
      const { id } = await anthropic(made).messages.batches.create({
        requests: prompts.map((prompt) => ({
          custom_id: prompt,
          params: {
            model,
            max_tokens: 100,
            messages: [{ role: 'user', content: prompt }],
            ...fields,
          },
        })),
      });
      return id;
    },
  };

  /** Waits for the end, and returns what became of each line. */
  async function resultsOf(made: Made, id: string): Promise<string[]> {
    const hasEnded = async () => (await rowOf(database, 'batches', { id })).state === 'ended';
    // A hundred batches may be waited for at once.
    await until(hasEnded, undefined, 50);
    const found = new Map<string, string>();
    if (id.startsWith('msgbatch'))
      for await (const { custom_id, result } of await anthropic(made).messages.batches.results(id))
        found.set(custom_id, result.type === 'errored' ? statusOf(result.error) : result.type);
    else {
      const { output_file_id: output, error_file_id: errors } =
        await openAi(made).batches.retrieve(id);
      for (const file of [output, errors]) {
        if (!file) continue;
        const text = await (await openAi(made).files.content(file)).text();
        for (const line of text.trimEnd().split('\n')) {
          const { custom_id, response, error } = JSON.parse(line) as Line;
          const status = String(response?.status_code);
          const word = error?.code.replace('batch_', '').replace('cancelled', 'canceled');
          found.set(custom_id, response ? status.replace('200', 'succeeded') : word!);
        }
      }
    }
    return prompts.map((prompt) => found.get(prompt)!);
  }

  async function lossesOf({ id }: Made): Promise<number> {
    const entries = await rowsOf(database, 'entries', { key_id: id });
    return entries.reduce((sum, entry) => sum + Number(entry.loss_micros), 0);
  }

  /** Nothing is held, and that is what was spent. */
  async function assertSpent(made: Made, micros: number): Promise<void> {
    const { availableMicros, heldMicros, postedMicros } = await gateway.balance(made.account);
    const left = creditUsd * 1_000_000 - micros;
    assert.deepEqual([availableMicros, heldMicros, postedMicros], [left, 0, left]);
  }

  return {
    gateway,
    upstream,
    database,
    providers,
    newKey,
    openAi,
    anthropic,
    hurry,
    clients,
    resultsOf,
    lossesOf,
    assertSpent,
  };
}

type Line = {
  readonly custom_id: string;
  readonly response: { readonly status_code: number } | null;
  readonly error: { readonly code: string } | null;
};

function statusOf({ error }: { readonly error: { readonly type: string } }): string {
  return { invalid_request_error: '400', api_error: '502' }[error.type] ?? error.type;
}

/** Answers by the prompt: `fail` with an error, others as usual. */
export function answerByPrompt(body: Record<string, unknown>, form: HostForm): Answer {
  if (/fail/.test(JSON.stringify(body)))
    return {
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'too odd' } },
      billedMicros: 0,
    };
  const openAi = 'input' in body ? 'responses' : 'chat';
  const wires = {
    anthropic: 'messages',
    gemini: 'gemini',
    vertex: 'gemini',
    bedrock: 'converse',
  } as const;
  const wire = form in wires ? wires[form as keyof typeof wires] : openAi;
  const answer = wholeAnswer(wire, { text: 'Yes.', tokens });
  return { status: 200, body: answer, billedMicros: costMicros };
}
