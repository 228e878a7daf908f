// What the tests of `tollgate import` share.
import { readFileSync, writeFileSync } from 'node:fs';
import OpenAI from 'openai';
import { parse } from 'yaml';
import { answerContent } from './answers.ts';
import { endpoint } from './endpoints.ts';
import type { TestGateway } from './gateway.ts';
import type { RunningApp } from './running-app.ts';
import { rowsOf } from './rows.ts';

type Line = {
  readonly kind: string;
  readonly name: string;
  readonly result: string;
  readonly id?: string;
  readonly notes: readonly string[];
};
export type Report = { readonly applied: boolean; readonly lines: readonly Line[] };

export function resultsOf({ lines }: Report): Readonly<Record<string, string>> {
  return Object.fromEntries(lines.map(({ kind, name, result }) => [`${kind} ${name}`, result]));
}

/** Starts the program again with the configuration that an import wrote, beside its own. */
export async function restartWith(
  { program }: TestGateway<RunningApp>,
  file: string,
): Promise<object> {
  const config = parse(readFileSync(file, 'utf8')) as object;
  await program.terminate();
  const place = program.env['TOLLGATE_CONFIG']!;
  const own = JSON.parse(readFileSync(place, 'utf8')) as object;
  writeFileSync(place, JSON.stringify({ ...own, ...config }));
  await program.start();
  return config;
}

export function answerHi({ upstream }: TestGateway): void {
  const answer = answerContent('chat', { text: 'Hi', tokens: { input: 1_000, output: 100 } });
  upstream.on(endpoint('chat').upstreamPath, answer);
}

export async function ask({ url }: TestGateway, apiKey: string, model: string) {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const messages = [{ role: 'user', content: 'Hello!' }] as const;
  const asked = { model, max_completion_tokens: 200, messages: [...messages] };
  return (await client.chat.completions.create(asked)).choices[0]!.message.content;
}

const tables = ['accounts', 'api_keys', 'earlier_keys', 'entries', 'audit_log'] as const;
export function countRows({ database }: TestGateway): Promise<readonly number[]> {
  return Promise.all(tables.map(async (table) => (await rowsOf(database, table)).length));
}
