// Calls of Google's own tools and their results, as parts of a conversation: a client asks to see them,
// and sends them back. Only the Gemini API knows them.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editAt } from '../edit-json.ts';
import { isAskedFor } from '../field-verdicts.ts';
import type { LeanRequest } from '../optional-tools.ts';

const names = ['toolCall', 'toolResponse'];
const wish = 'includeServerSideToolInvocations';

/** For any other host. A turn that had nothing else goes, too. */
export function leaveOutServerCalls<Body extends JsonObject>(body: Body): LeanRequest<Body> {
  const leftOut = new Set<string>();
  const asked = editAt(body, ['toolConfig'], ({ [wish]: value, ...config }) => {
    if (isAskedFor(value)) leftOut.add(`toolConfig.${wish}`);
    return config;
  });
  const contents = ((asked.contents ?? []) as JsonObject[]).flatMap((content) => {
    if (!Array.isArray(content.parts)) return [content];
    const parts = (content.parts as unknown[]).filter((part) => {
      const name = isObject(part) && names.find((one) => isAskedFor(part[one]));
      if (name) leftOut.add(`contents.parts.${name}`);
      return !name;
    });
    if (parts.length === content.parts.length) return [content];
    return parts.length > 0 ? [{ ...content, parts }] : [];
  });
  return { body: { ...asked, contents } as unknown as Body, leftOut: [...leftOut] };
}
