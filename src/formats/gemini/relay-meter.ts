// Counts what passes on the straight path, in a whole answer or a chunk: output, stop reasons, searches.
import type { OutputMeter } from '../../canonical/output-bytes.ts';
import { isObject, type JsonObject, objectOf, objectsOf } from '../../lib/json.ts';
import { editFields, editItems } from '../edit-json.ts';

/** Adds the output of all candidates. */
export function meterChunk(meter: OutputMeter, chunk: JsonObject): void {
  for (const candidate of candidatesOf(chunk))
    for (const part of partsOf(candidate)) meterPart(meter, part);
}

function meterPart(meter: OutputMeter, part: JsonObject): void {
  const { text, thought, thoughtSignature, functionCall, toolCall, executableCode, inlineData } =
    part;
  if (typeof thoughtSignature === 'string') meter.addSealed(thoughtSignature);
  if (typeof text === 'string') {
    if (thought === true) meter.addReasoning(text);
    else meter.addText(text);
  }
  for (const call of [functionCall, toolCall])
    if (isObject(call)) meter.addText(JSON.stringify(call.args ?? {}));
  // Results of code and of Google's tools are not counted: the model reads them as input.
  if (isObject(executableCode) && typeof executableCode.code === 'string')
    meter.addText(executableCode.code);
  if (isObject(inlineData)) meter.addImages(1);
}

export function candidatesOf({ candidates }: JsonObject): JsonObject[] {
  return objectsOf(candidates);
}

/**
 * Leaves out what Google's SDKs would send back at once to have the answer continued: it names state at
 * Google, so the request would be refused (npm `@google/genai` 3.3).
 */
export function withoutContinuation(chunk: JsonObject): JsonObject {
  return editFields(chunk, {
    candidates: editItems(chunk['candidates'], (candidate) =>
      editFields(candidate, { continuationToken: undefined }),
    ),
  });
}

export function partsOf({ content }: JsonObject): JsonObject[] {
  return objectsOf(objectOf(content).parts);
}

/**
 * Adds the searches that an answer or a chunk names, and returns how many there are so far. Chunks may
 * repeat earlier ones. Google bills each query of a candidate once, and no empty one
 * (https://ai.google.dev/gemini-api/docs/google-search#pricing; not verified).
 */
export function noteSearches(seen: Set<string>, chunk: JsonObject): number {
  for (const { index, groundingMetadata } of candidatesOf(chunk)) {
    if (!isObject(groundingMetadata) || !Array.isArray(groundingMetadata.webSearchQueries))
      continue;
    for (const query of groundingMetadata.webSearchQueries as unknown[])
      if (typeof query === 'string' && query !== '') seen.add(JSON.stringify([index ?? 0, query]));
  }
  return seen.size;
}

/** As `noteSearches`, for pages that were fetched. */
export function notePages(seen: Set<string>, chunk: JsonObject): number {
  for (const { index, urlContextMetadata: context } of candidatesOf(chunk)) {
    if (!isObject(context) || !Array.isArray(context.urlMetadata)) continue;
    for (const page of context.urlMetadata.filter(isObject))
      if (page.urlRetrievalStatus === 'URL_RETRIEVAL_STATUS_SUCCESS')
        seen.add(JSON.stringify([index ?? 0, page.retrievedUrl]));
  }
  return seen.size;
}
