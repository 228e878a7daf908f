// The playground's request as code. Files are not in the code: it reads them, so that it stays short
// and still runs.
import { gemini, inPublicForm, inSdkForm } from '../../../api/chat-formats/gemini.ts';
import { curlHead, shellQuote } from '../../../parts/curl.ts';
import type { Json } from '../../../api/chat-formats/types.ts';

/** `data`: base64. */
export type SampleFile = { readonly name: string; readonly data: string };

type SampleRequest = {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly path: string;
  readonly body: Json;
  readonly files: readonly SampleFile[];
};

type Sample = { readonly language: string; readonly label: string; readonly code: string };

/**
 * Samples for curl and, for conversations and images, for the format's SDK: Anthropic's, Google's, and
 * OpenAI's for the rest.
 */
export function codeSamples(request: SampleRequest): readonly Sample[] {
  const isForm = 'file' in request.body;
  const code = isForm ? formCurl(request) : curl(request);
  const sample = { language: 'curl', label: 'With curl', code };
  if (!Object.hasOwn(calls, request.path)) return [sample];
  return [
    sample,
    { language: 'Python', label: 'With Python', code: python(request) },
    { language: 'TypeScript', label: 'With TypeScript', code: typescript(request) },
  ];
}

function curl({ baseUrl, files, ...request }: SampleRequest): string {
  const { path, body } = inPublicForm(request);
  const head = curlHead({ baseUrl, path, isStream: request.body['stream'] === true });
  const text = JSON.stringify(body, null, 2);
  if (!hasFile(body, files)) return [...head, `  -d ${shellQuote(text)}`].join('\n');
  // The shell puts the files into a here-document, whose size has no limit.
  const escaped = text.replaceAll(/[\\$`]/g, String.raw`\$&`);
  const filled = files.reduce(
    (code, { name, data }) =>
      code.replaceAll(data, () => `$(base64 < ${shellQuote(name)} | tr -d '\\n')`),
    escaped,
  );
  return [...head, '  -d @- <<JSON', filled, 'JSON'].join('\n');
}

function formCurl({ baseUrl, path, body }: SampleRequest): string {
  const fields = Object.entries(body).map(
    ([name, value]) => `-F ${shellQuote(`${name}=${String(value)}`)}`,
  );
  const head = [`curl ${baseUrl}${path}`, '-H "Authorization: Bearer $TOLLGATE_KEY"'];
  return [...head, ...fields].join(' \\\n  ');
}

function hasFile(value: unknown, files: readonly SampleFile[]): boolean {
  if (typeof value === 'string') return findFile(value, files) !== undefined;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((member) => hasFile(member, files));
}

/** Finds the file that a text of the body consists of, after the start of a data URL, if any. */
function findFile(text: string, files: readonly SampleFile[]): SampleFile | undefined {
  return files.find(({ data }) => data !== '' && text.endsWith(data));
}

type Sdk = 'openai' | 'anthropic' | 'google';
type Setup = { readonly import: string; readonly client: (baseUrl: string) => string };

const setups: Readonly<Record<Sdk, { readonly python: Setup; readonly typescript: Setup }>> = {
  openai: {
    python: {
      import: 'from openai import OpenAI',
      client: (baseUrl) => `OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["TOLLGATE_KEY"])`,
    },
    typescript: {
      import: "import OpenAI from 'openai';",
      client: (baseUrl) =>
        `new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: process.env.TOLLGATE_KEY })`,
    },
  },
  anthropic: {
    python: {
      import: 'from anthropic import Anthropic',
      client: (baseUrl) => `Anthropic(base_url="${baseUrl}", api_key=os.environ["TOLLGATE_KEY"])`,
    },
    typescript: {
      import: "import Anthropic from '@anthropic-ai/sdk';",
      client: (baseUrl) =>
        `new Anthropic({ baseURL: '${baseUrl}', apiKey: process.env.TOLLGATE_KEY })`,
    },
  },
  google: {
    python: {
      import: 'from google import genai',
      client: (baseUrl) =>
        `genai.Client(http_options={"base_url": "${baseUrl}"}, api_key=os.environ["TOLLGATE_KEY"])`,
    },
    typescript: {
      import: "import { GoogleGenAI } from '@google/genai';",
      client: (baseUrl) =>
        `new GoogleGenAI({ httpOptions: { baseUrl: '${baseUrl}' }, apiKey: process.env.TOLLGATE_KEY })`,
    },
  },
};

/** How an SDK calls a path, and where the text is in an event and in a whole answer. */
type Call = {
  readonly sdk: Sdk;
  readonly method: string;
  /** Another method, with which it streams. */
  readonly streamMethod?: { readonly python: string; readonly typescript: string };
  readonly eventText: {
    readonly python: readonly string[];
    readonly typescript: readonly string[];
  };
  readonly answerText: { readonly python: string; readonly typescript: string };
};

const calls: Readonly<Record<string, Call>> = {
  '/v1/responses': {
    sdk: 'openai',
    method: 'responses.create',
    eventText: {
      python: [
        'if event.type == "response.output_text.delta":',
        '    print(event.delta, end="", flush=True)',
      ],
      typescript: [
        "if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);",
      ],
    },
    answerText: { python: 'answer.output_text', typescript: 'answer.output_text' },
  },
  '/v1/chat/completions': {
    sdk: 'openai',
    method: 'chat.completions.create',
    eventText: {
      python: [
        'if event.choices:',
        '    print(event.choices[0].delta.content or "", end="", flush=True)',
      ],
      typescript: ["process.stdout.write(event.choices[0]?.delta.content ?? '');"],
    },
    answerText: {
      python: 'answer.choices[0].message.content',
      typescript: 'answer.choices[0].message.content',
    },
  },
  '/v1/messages': {
    sdk: 'anthropic',
    method: 'messages.create',
    eventText: {
      python: [
        'if event.type == "content_block_delta" and event.delta.type == "text_delta":',
        '    print(event.delta.text, end="", flush=True)',
      ],
      typescript: [
        "if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {",
        '  process.stdout.write(event.delta.text);',
        '}',
      ],
    },
    answerText: { python: 'answer.content', typescript: 'answer.content' },
  },
  [gemini.path]: {
    sdk: 'google',
    method: 'models.generate_content',
    streamMethod: {
      python: 'models.generate_content_stream',
      typescript: 'models.generateContentStream',
    },
    eventText: {
      python: ['print(event.text or "", end="", flush=True)'],
      typescript: ["process.stdout.write(event.text ?? '');"],
    },
    answerText: { python: 'answer.text', typescript: 'answer.text' },
  },
  '/v1/images/generations': {
    sdk: 'openai',
    method: 'images.generate',
    eventText: { python: [], typescript: [] },
    answerText: { python: 'answer.data[0].url', typescript: 'answer.data?.[0]?.url' },
  },
};

function python({ baseUrl, path, body, files }: SampleRequest): string {
  const { sdk, method, streamMethod, eventText, answerText } = calls[path]!;
  const { known, extra } = splitFields(path, inSdkForm({ path, body }));
  const values = Object.entries(known).map(
    ([name, value]) => `    ${name}=${pythonValue(value, 1, files)},`,
  );
  const more =
    Object.keys(extra).length === 0 ? [] : [`    extra_body=${pythonValue(extra, 1, files)},`];
  const isStream = body['stream'] === true;
  const readsFiles = hasFile(body, files);
  return [
    ...(readsFiles ? ['import base64'] : []),
    'import os',
    setups[sdk].python.import,
    '',
    `client = ${setups[sdk].python.client(baseUrl)}`,
    ...(readsFiles
      ? [
          '',
          'def read_file(name):',
          '    with open(name, "rb") as file:',
          '        return base64.b64encode(file.read()).decode()',
          '',
        ]
      : []),
    `${isStream ? 'stream' : 'answer'} = client.${(isStream && streamMethod?.python) || method}(`,
    ...values,
    ...more,
    ')',
    ...(isStream
      ? ['for event in stream:', ...eventText.python.map((line) => `    ${line}`)]
      : [`print(${answerText.python})`]),
  ].join('\n');
}

function typescript({ baseUrl, path, body, files }: SampleRequest): string {
  const { sdk, method, streamMethod, eventText, answerText } = calls[path]!;
  const { extra } = splitFields(path, body);
  // The SDK sends the gateway's own fields, but its types do not know them.
  const cast = Object.keys(extra).length === 0 ? '' : ' as OpenAI.ImageGenerateParamsNonStreaming';
  const isStream = body['stream'] === true;
  const inCamelCase = method.replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
  const called = (isStream && streamMethod?.typescript) || inCamelCase;
  const readsFiles = hasFile(body, files);
  return [
    ...(readsFiles ? ["import { readFileSync } from 'node:fs';"] : []),
    setups[sdk].typescript.import,
    '',
    `const client = ${setups[sdk].typescript.client(baseUrl)};`,
    ...(readsFiles ? ["const readFile = (name: string) => readFileSync(name, 'base64');"] : []),
    `const ${isStream ? 'stream' : 'answer'} = await client.${called}(${typescriptValue(inSdkForm({ path, body }), files)}${cast});`,
    ...(isStream
      ? [
          'for await (const event of stream) {',
          ...eventText.typescript.map((line) => `  ${line}`),
          '}',
        ]
      : [`console.log(${answerText.typescript});`]),
  ].join('\n');
}

/** The Python SDK takes unknown fields in `extra_body`. */
function splitFields(path: string, body: Json): { readonly known: Json; readonly extra: Json } {
  const ours = path === '/v1/images/generations' ? ['aspect_ratio', 'resolution'] : [];
  const entries = Object.entries(body);
  return {
    known: Object.fromEntries(entries.filter(([name]) => !ours.includes(name))),
    extra: Object.fromEntries(entries.filter(([name]) => ours.includes(name))),
  };
}

/** Formats a Python literal: `{"role": "user"}`, `True`. */
function pythonValue(value: unknown, depth: number, files: readonly SampleFile[]): string {
  const file = typeof value === 'string' && findFile(value, files);
  if (file) return fileExpression(value, file, { read: 'read_file', quote: JSON.stringify });
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null || value === undefined) return 'None';
  if (typeof value !== 'object') return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Array.isArray(value)
    ? value.map((member) => pythonValue(member, depth + 1, files))
    : Object.entries(value).map(
        ([name, member]) => `${JSON.stringify(name)}: ${pythonValue(member, depth + 1, files)}`,
      );
  return layOut({ open: open!, close: close!, parts, depth, indent: 4 });
}

/** Formats a TypeScript literal, with unquoted keys. */
function typescriptValue(value: unknown, files: readonly SampleFile[], depth = 0): string {
  const file = typeof value === 'string' && findFile(value, files);
  if (file) return fileExpression(value, file, { read: 'readFile', quote });
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? quote(value) : JSON.stringify(value);
  if (Array.isArray(value)) {
    const parts = value.map((member) => typescriptValue(member, files, depth + 1));
    return layOut({ open: '[', close: ']', parts, depth, indent: 2 });
  }
  const parts = Object.entries(value).map(
    ([name, member]) => `${propertyName(name)}: ${typescriptValue(member, files, depth + 1)}`,
  );
  return layOut({ open: '{ ', close: ' }', parts, depth, indent: 2, isSpread: depth === 0 });
}

/** Names of a schema's properties may be any text. */
function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

type FileCode = { readonly read: string; readonly quote: (text: string) => string };

/** `"data:image/png;base64," + read_file("cat.png")` */
function fileExpression(text: string, file: SampleFile, { read, quote: quoted }: FileCode): string {
  const start = text.slice(0, text.length - file.data.length);
  const call = `${read}(${quoted(file.name)})`;
  return start === '' ? call : `${quoted(start)} + ${call}`;
}

function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1);
  return `'${inner.replaceAll(String.raw`\"`, '"').replaceAll("'", String.raw`\'`)}'`;
}

type Layout = {
  readonly open: string;
  readonly close: string;
  readonly parts: readonly string[];
  readonly depth: number;
  readonly indent: number;
  /** Always uses several lines. */
  readonly isSpread?: boolean;
};

const lineMax = 88;

function layOut({ open, close, parts, depth, indent, isSpread = false }: Layout): string {
  const line = open + parts.join(', ') + close;
  if (!isSpread && line.length + depth * indent <= lineMax && !line.includes('\n'))
    return parts.length === 0 ? open.trim() + close.trim() : line;
  const space = ' '.repeat((depth + 1) * indent);
  return `${open.trim()}\n${parts.map((part) => `${space}${part},`).join('\n')}\n${' '.repeat(depth * indent)}${close.trim()}`;
}
