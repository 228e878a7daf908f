// What is around the spans in an OTLP request: the service that sends them, and the conventions.
import packageJson from '../../../package.json' with { type: 'json' };
import { type TextAttributes, writeTexts } from './attributes.ts';
import type { Wrapping } from './batch.ts';
import { schemaUrl } from './conventions.ts';

export const scope = `"scope":{"name":"tollgate","version":"${packageJson.version}"}`;
export const schema = `"schemaUrl":"${schemaUrl}"`;

export function writeResource(attributes: TextAttributes): string {
  return `"resource":{"attributes":${writeTexts(attributes)}}`;
}

export function wrapSpans(resource: TextAttributes): Wrapping {
  return {
    head: Buffer.from(
      `{"resourceSpans":[{${writeResource(resource)},"scopeSpans":[{${scope},"spans":[`,
    ),
    tail: Buffer.from(`],${schema}}],${schema}}]}`),
  };
}
