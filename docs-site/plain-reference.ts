// The API reference as Markdown: each call with its parameters, and its example in curl.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupsOf, type ApiDocument, type Call } from './client/reference/document.ts';
import { exampleRequest } from './client/reference/request.ts';
import { languages } from './client/reference/samples.ts';
import type { Audience } from './contents.ts';

const file = join(import.meta.dirname, '..', 'docs', 'openapi.json');
const about = '{{gateway}}/openapi.json describes every call with its schemas, as OpenAPI 3.1.';

export function plainReference(title: string, audience: Audience): string {
  const api = JSON.parse(readFileSync(file, 'utf8')) as ApiDocument;
  const groups = groupsOf(api, audience).map(({ name, description, calls }) =>
    [`## ${name}`, description, ...calls.flatMap((call) => describe(api, call))].join('\n\n'),
  );
  return `${[`# ${title}`, about, ...groups].join('\n\n')}\n`;
}

function describe(api: ApiDocument, call: Call): string[] {
  const { operationId, method, path, summary, description, parameters = [] } = call;
  const fields = parameters.map(
    (one) =>
      `- \`${one.name}\` (${one.in}${one.required ? ', required' : ''}): ${one.description ?? ''}`,
  );
  const example = exampleRequest(api, call, '{{gateway}}');
  return [
    `### ${summary ?? operationId}`,
    `\`${method} ${path}\``,
    ...(description ? [description] : []),
    ...(fields.length > 0 ? [fields.join('\n')] : []),
    ...(example ? [`\`\`\`sh\n${languages.curl.write(example)}\`\`\``] : []),
  ];
}
