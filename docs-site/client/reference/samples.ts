// Writes a request as a program. Pure: the page, its Markdown and the tests use it.
import type { SampleRequest } from './request.ts';

export const languages = {
  curl: { title: 'curl', highlighted: 'bash', write: writeCurl },
  python: { title: 'Python', highlighted: 'python', write: writePython },
  typescript: { title: 'TypeScript', highlighted: 'typescript', write: writeTypeScript },
  go: { title: 'Go', highlighted: 'go', write: writeGo },
} as const;

export type LanguageName = keyof typeof languages;

function writeCurl({ method, url, key, headers, body }: SampleRequest): string {
  const sent = Object.entries({
    ...(key && { Authorization: `Bearer ${key.shown}` }),
    ...headers,
  });
  const usual = body === null ? 'GET' : 'POST';
  const lines = [
    `curl${isStream(body) ? ' -N' : ''}${method === usual ? '' : ` -X ${method}`} ${quote(url)}`,
    ...sent.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    // curl would read the file of that name.
    ...(body === null ? [] : [`${body.startsWith('@') ? '--data-raw' : '-d'} ${quote(body)}`]),
  ];
  return `${lines.join(' \\\n  ')}\n`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function writePython({ method, url, key, headers, body }: SampleRequest): string {
  const json = jsonOf(body);
  const { 'Content-Type': type, ...others } = headers;
  // httpx writes the type of JSON itself.
  const sent = Object.entries(json === undefined && type ? headers : others).map(
    ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  );
  if (key) sent.unshift(`"Authorization": f"Bearer {os.environ['${key.variable}']}"`);
  const fields = [
    JSON.stringify(method),
    JSON.stringify(url),
    ...(sent.length > 0 ? [`headers={${sent.join(', ')}}`] : []),
    ...(json === undefined ? [] : [`json=${literal(json, python, '    ')}`]),
    ...(body !== null && json === undefined ? [`content=${JSON.stringify(body)}`] : []),
    'timeout=600',
  ];
  const call = (name: string) => `httpx.${name}(\n    ${fields.join(',\n    ')},\n)`;
  const program = isStream(body)
    ? `with ${call('stream')} as response:\n    for line in response.iter_lines():\n        print(line)\n`
    : `response = ${call('request')}\nprint(response.text)\n`;
  return `${key ? 'import os\n\n' : ''}import httpx\n\n${program}`;
}

function writeTypeScript({ method, url, key, headers, body }: SampleRequest): string {
  const json = jsonOf(body);
  const sent = [
    ...(key ? [`authorization: \`Bearer \${process.env.${key.variable}}\``] : []),
    ...Object.entries(headers).map(
      ([name, value]) => `${script.key(name.toLowerCase())}: ${script.string(value)}`,
    ),
  ];
  const text = json === undefined ? script.string(body ?? '') : null;
  const fields = [
    ...(method === 'GET' ? [] : [`method: ${script.string(method)}`]),
    ...(sent.length > 0 ? [`headers: {\n    ${sent.join(',\n    ')},\n  }`] : []),
    ...(body === null ? [] : [`body: ${text ?? `JSON.stringify(${literal(json, script, '  ')})`}`]),
  ];
  const options = fields.length === 0 ? '' : `, {\n  ${fields.join(',\n  ')},\n}`;
  const answer = isStream(body)
    ? 'const text = response.body!.pipeThrough(new TextDecoderStream());\nfor await (const part of text) process.stdout.write(part);\n'
    : 'console.log(await response.text());\n';
  return `const response = await fetch(${script.string(url)}${options});\n${answer}`;
}

function writeGo({ method, url, key, headers, body }: SampleRequest): string {
  const imports = ['io', 'net/http', 'os', ...(body === null ? [] : ['strings'])];
  const raw = `\`${(body ?? '').replaceAll('`', '` + "`" + `')}\``;
  const sent = [
    ...(key ? [`"Authorization", "Bearer "+os.Getenv("${key.variable}")`] : []),
    ...Object.entries(headers).map((pair) => pair.map((text) => JSON.stringify(text)).join(', ')),
  ];
  const check = ['if err != nil {', '\tpanic(err)', '}'];
  const lines = [
    ...(body === null ? [] : [`body := strings.NewReader(${raw})`]),
    `request, err := http.NewRequest("${method}", ${JSON.stringify(url)}, ${body === null ? 'nil' : 'body'})`,
    ...check,
    ...sent.map((pair) => `request.Header.Set(${pair})`),
    'response, err := http.DefaultClient.Do(request)',
    ...check,
    'defer response.Body.Close()',
    'io.Copy(os.Stdout, response.Body)',
  ];
  const list = imports.map((name) => `\t"${name}"`).join('\n');
  return `package main\n\nimport (\n${list}\n)\n\nfunc main() {\n\t${lines.join('\n\t')}\n}\n`;
}

/** undefined: the body is no JSON. */
function jsonOf(body: string | null): unknown {
  try {
    return body === null ? undefined : JSON.parse(body);
  } catch {
    return undefined;
  }
}

function isStream(body: string | null): boolean {
  const json = jsonOf(body) as { readonly stream?: unknown } | null | undefined;
  return json?.stream === true;
}

type Style = {
  readonly words: Readonly<Record<string, string>>;
  readonly key: (name: string) => string;
  readonly string: (text: string) => string;
};

const python: Style = {
  words: { true: 'True', false: 'False', null: 'None' },
  key: (name) => JSON.stringify(name),
  string: (text) => JSON.stringify(text),
};

const script: Style = {
  words: {},
  key: (name) => {
    // Without brackets this name sets the object's prototype.
    if (name === '__proto__') return `[${script.string(name)}]`;
    return /^[a-z_$][\w$]*$/i.test(name) ? name : script.string(name);
  },
  string: (text) =>
    `'${JSON.stringify(text)
      .slice(1, -1)
      .replaceAll(String.raw`\"`, '"')
      .replaceAll("'", String.raw`\'`)}'`,
};

const plain: Style = { ...python, words: {} };

/** Returns JSON, with short values on one line. */
export function jsonText(value: unknown): string {
  return literal(value, plain, '');
}

const lineMax = 60;

/** Returns a value of JSON as a program has it, on one line if it is short. */
function literal(value: unknown, style: Style, indent: string): string {
  if (typeof value === 'string') return style.string(value);
  if (typeof value !== 'object' || value === null) {
    const word = JSON.stringify(value);
    return style.words[word] ?? word;
  }
  const deeper = `${indent}${style === python ? '    ' : '  '}`;
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(
    ([name, part]) => `${isList ? '' : `${style.key(name)}: `}${literal(part, style, deeper)}`,
  );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const space = isList || style !== script || parts.length === 0 ? '' : ' ';
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  if (line.length <= lineMax && !line.includes('\n')) return line;
  const comma = style === plain ? '' : ',';
  return `${open}\n${deeper}${parts.join(`,\n${deeper}`)}${comma}\n${indent}${close}`;
}
