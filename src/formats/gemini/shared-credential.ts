// Refuses what a client must not use. All accounts share the operator's credential, so a field that
// changes the price or names state kept at the provider passes only if the catalogue prices it.
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { Destination } from '../destination.ts';
import { compileVerdicts, isAskedFor, reasons } from '../field-verdicts.ts';
import type { LeanRequest } from '../optional-tools.ts';
import { checkMedia } from './client-media.ts';
import { partKinds, verdictTable } from './field-verdicts.ts';
import type { GeminiRequest } from './schema.ts';
import { leaveOutServerCalls } from './server-calls.ts';

const keepKnown = compileVerdicts(verdictTable, partKinds);

/** Tools that Google runs, each a field of a tool, and why they are not sold. */
const refusedTools: Readonly<Record<string, string>> = {
  googleMaps: reasons.unpriced,
  fileSearch: reasons.stored,
  computerUse: reasons.unpriced,
  enterpriseWebSearch: reasons.unpriced,
  retrieval: reasons.stored,
  mcpServers: reasons.servers,
  exaAiSearch: reasons.unpriced,
  parallelAiSearch: reasons.unpriced,
};
const searches = ['googleSearch', 'googleSearchRetrieval'];
/** Billed as input and output alone. Google's servers run the code and fetch the pages. */
const readers = ['codeExecution', 'urlContext'];

/**
 * Returns the body without unknown fields. Throws ApiError `invalid_request` that names the field and
 * gives the reason.
 */
export function refuseUnshareable<Body extends GeminiRequest>(
  body: Body,
  { search, unknown }: Destination = {},
): Body {
  const known = keepKnown(body as Body & JsonObject, unknown);
  for (const [index, tool] of (known.tools ?? []).entries())
    for (const [name, value] of Object.entries(tool)) {
      const why =
        searches.includes(name) && search !== 'priced'
          ? reasons.unpricedSearch
          : refusedTools[name];
      if (why === undefined || !isAskedFor(value)) continue;
      const path = `tools[${index}].${name}`;
      throw invalidRequest(path, `${path} is not available here; leave it out: ${why}`);
    }
  checkMedia(known.contents);
  if (known.systemInstruction) checkMedia([known.systemInstruction]);
  return known;
}

/** For a model that runs elsewhere: leaves out what Google runs, which a model need never use. */
export function leaveOutHosted<Body extends GeminiRequest>(body: Body): LeanRequest<Body> {
  const lean = leaveOut(body, [...searches, ...readers, ...Object.keys(refusedTools)]);
  const told = leaveOutServerCalls(lean.body as Body & JsonObject);
  return { body: told.body, leftOut: [...lean.leftOut, ...told.leftOut] };
}

/** For Google: leaves out what is not sold. */
export function leaveOutUnsold<Body extends GeminiRequest>(
  body: Body,
  { hasSearch }: { readonly hasSearch: boolean },
): LeanRequest<Body> {
  return leaveOut(body, [...(hasSearch ? [] : searches), ...Object.keys(refusedTools)]);
}

/** With mode `ANY` only functions are demanded, so every other tool is optional. */
function leaveOut<Body extends GeminiRequest>(
  body: Body,
  names: readonly string[],
): LeanRequest<Body> {
  const leftOut: string[] = [];
  const kept = (body.tools ?? []).flatMap((tool, index) => {
    const lacking = names.filter((name) => Object.hasOwn(tool, name));
    if (lacking.length === 0) return [tool];
    leftOut.push(...lacking.map((name) => `tools[${index}].${name}`));
    const rest = Object.entries(tool).filter(([name]) => !lacking.includes(name));
    return rest.length > 0 ? [Object.fromEntries(rest)] : [];
  });
  return leftOut.length === 0 ? { body, leftOut } : { body: { ...body, tools: kept }, leftOut };
}

export function withoutSearch(body: GeminiRequest): GeminiRequest {
  return leaveOut(body, searches).body;
}

/** Returns the functions of all tools. */
export function declarationsOf({ tools }: Pick<GeminiRequest, 'tools'>) {
  return (tools ?? []).flatMap((tool) => (isObject(tool) ? (tool.functionDeclarations ?? []) : []));
}

export function asksForSearch(body: Pick<GeminiRequest, 'tools'>): boolean {
  return asksForAny(body, searches);
}

export function asksForReaders(body: Pick<GeminiRequest, 'tools'>): boolean {
  return asksForAny(body, readers);
}

function asksForAny({ tools }: Pick<GeminiRequest, 'tools'>, names: readonly string[]): boolean {
  return (tools ?? []).some((tool) => names.some((name) => isAskedFor((tool as JsonObject)[name])));
}
