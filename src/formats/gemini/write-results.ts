// Writes the results of a turn's calls. Gemini wants each as an object with its function's name,
// and as many results as calls.
import type { DocumentPart, ImagePart, ToolResultPart } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { isSound } from '../input-audio.ts';
import { documentLabel, writeDocument, writeMedia } from './media.ts';
import type { ModelTraits } from './model-traits.ts';

/** The calls so far, by id. */
export type CallNames = Map<string, { readonly name: string; readonly order: number }>;

type ResultNotes = { readonly traits: ModelTraits; readonly names: CallNames };

/**
 * Results are in the order of the calls. What cannot stand inside a result follows after all of
 * them.
 */
export function writeResults(
  results: readonly ToolResultPart[],
  { traits, names }: ResultNotes,
): JsonObject[] {
  const orderOf = ({ callId }: ToolResultPart) => names.get(callId)?.order ?? 0;
  const ordered = results.toSorted((first, second) => orderOf(first) - orderOf(second));
  const written = ordered.map((result) => writeResult(result, { traits, names }));
  return [...written, ...ordered.flatMap((result) => writeAttachments(result, traits))];
}

function writeResult(
  { callId, content, isError }: ToolResultPart,
  { traits, names }: ResultNotes,
): JsonObject {
  const texts = content.filter((part) => part.type === 'text').map((part) => part.text);
  const media = content.filter((part) => isInside(part, traits));
  if (texts.length + media.length < content.length)
    texts.push('[The attachments of this result follow.]');
  for (const part of media)
    if (part.type === 'document' && part.name !== undefined) texts.push(documentLabel(part.name));
  return {
    functionResponse: {
      id: callId,
      // Every result has a call before it: repair-conversation.ts.
      name: names.get(callId)!.name,
      response: { [isError ? 'error' : 'output']: texts.join('\n') },
      ...(media.length > 0 ? { parts: media.map(writeMedia) } : {}),
    },
  };
}

type Media = ImagePart | DocumentPart;

/** Only bytes, only since Gemini 3, and no sound. */
function isInside(
  part: ToolResultPart['content'][number],
  { mediaInResults }: ModelTraits,
): part is Media {
  if (part.type === 'text' || !mediaInResults || part.source.kind !== 'base64') return false;
  return !isSound(part.source.mediaType);
}

function writeAttachments({ callId, content }: ToolResultPart, traits: ModelTraits): JsonObject[] {
  const attachments = content.filter(
    (part): part is Media => part.type !== 'text' && !isInside(part, traits),
  );
  if (attachments.length === 0) return [];
  const label = { text: `[Attachments of the result of tool call ${callId}]` };
  return [
    label,
    ...attachments.flatMap((part) =>
      part.type === 'image' ? [writeMedia(part)] : writeDocument(part),
    ),
  ];
}
