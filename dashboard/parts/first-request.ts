// The first request: the model that it goes to, and the request as code in four languages.
import type { Mode } from '../../src/management/contract/common.ts';
import type { Output } from '../api/client.ts';
import { lastingFirst } from './model-text.ts';

type ChatModel = Output<'GET /accounts/:account/models'>['chat'][number];

/**
 * Returns the cheapest model that the key may use and that can run, if possible one whose end is not
 * announced; null when there is none. In test mode the sandbox runs every model.
 */
export function firstModel(
  models: readonly ChatModel[],
  { mode, allowed }: { readonly mode: Mode; readonly allowed: readonly string[] | null },
): string | null {
  const runnable = models.filter(
    (model) =>
      model.price !== null &&
      (mode === 'test' || model.is_live) &&
      (allowed === null || allowed.includes(model.id)),
  );
  const priceOf = ({ price }: ChatModel) =>
    price ? price.base.input_micros + price.base.output_micros : 0;
  const [first] = runnable.toSorted(
    (one, other) => lastingFirst(one, other) || priceOf(one) - priceOf(other),
  );
  return first?.id ?? null;
}

type Sample = { readonly language: string; readonly label: string; readonly code: string };

type FirstRequest = {
  /** Public address of the API, without a trailing slash. */
  readonly baseUrl: string;
  /** The key's secret, or a placeholder. */
  readonly key: string;
  readonly model: string;
  readonly text: string;
};

/** Samples for curl, for the OpenAI SDK in Python and JavaScript, and for Go's standard library. */
export function firstSamples(request: FirstRequest): readonly Sample[] {
  return [
    { language: 'curl', label: 'With curl', code: curl(request) },
    { language: 'Python', label: 'With Python', code: python(request) },
    { language: 'JavaScript', label: 'With JavaScript or TypeScript', code: javascript(request) },
    { language: 'Go', label: 'With Go', code: go(request) },
  ];
}

function bodyOf({ model, text }: FirstRequest): string {
  return `{
    "model": ${JSON.stringify(model)},
    "messages": [{ "role": "user", "content": ${JSON.stringify(text)} }]
  }`;
}

function curl(request: FirstRequest): string {
  return `curl ${request.baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer ${request.key}" \\
  -H "Content-Type: application/json" \\
  -d '${bodyOf(request).replaceAll("'", String.raw`'\''`)}'`;
}

function python({ baseUrl, key, model, text }: FirstRequest): string {
  return `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model=${JSON.stringify(model)},
    messages=[{"role": "user", "content": ${JSON.stringify(text)}}],
)
print(answer.choices[0].message.content)`;
}

function javascript({ baseUrl, key, model, text }: FirstRequest): string {
  return `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: '${key}',
});
const answer = await client.chat.completions.create({
  model: ${JSON.stringify(model)},
  messages: [{ role: 'user', content: ${JSON.stringify(text)} }],
});
console.log(answer.choices[0].message.content);`;
}

function go(request: FirstRequest): string {
  return `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

func main() {
	body := strings.NewReader(\`${bodyOf(request)}\`)
	request, err := http.NewRequest("POST", "${request.baseUrl}/v1/chat/completions", body)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer ${request.key}")
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}`;
}
