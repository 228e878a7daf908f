// The first request as code, in four languages, ready to be run.

type Sample = { readonly language: string; readonly label: string; readonly code: string };

export type FirstRequest = {
  /** Where clients reach the API; no slash at its end. */
  readonly baseUrl: string;
  /** The key's text, or what stands for it. */
  readonly key: string;
  readonly model: string;
  readonly text: string;
};

/** curl; the SDK of OpenAI for Python and for JavaScript; and Go with nothing but its own library. */
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
