// Reads fields of a body that was validated before. Missing fields and other types read as nothing.
import type {
  DocumentPart,
  OutputFormat,
  Reasoning,
  TextPart,
  ThinkingPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { jsonInstruction } from '../../formats/adapting/json-object.ts';
import { type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** The answers that a request asks for: some for each prompt, which are texts or lists of tokens. */
export function choicesIn({ prompt, n }: JsonObject): number {
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1;
  return prompts * (numberOf(n) ?? 1);
}

export function textPart(text: unknown): TextPart {
  return { type: 'text', text: textOf(text) };
}

/** Content that is a string, or a list of parts of which only the texts are read. */
export function textsOf(content: unknown): TextPart[] {
  if (typeof content === 'string') return [textPart(content)];
  return objectsOf(content).flatMap((part) =>
    typeof part.text === 'string' ? [textPart(part.text)] : [],
  );
}

export function thinkingPart(text: string): ThinkingPart {
  return { type: 'thinking', text, signature: null, redacted: false };
}

/** `text`: its arguments or input. */
export function callPart(
  id: unknown,
  name: unknown,
  text: string,
  kind: ToolCallPart['kind'] = 'function',
): ToolCallPart {
  return { type: 'tool-call', id: textOf(id), name: textOf(name), arguments: text, kind };
}

export function resultPart(
  callId: unknown,
  content: readonly UserPart[],
  isError = false,
): ToolResultPart {
  return { type: 'tool-result', callId: textOf(callId), content, isError };
}

/** `parameters`: null for a custom tool. */
export function toolOf(
  { name, description }: JsonObject,
  parameters: JsonObject | null,
  kind: Tool['kind'] = 'function',
): Tool {
  const described = { name: textOf(name), description: textOf(description) || null };
  return { ...described, parameters, strict: null, kind };
}

/** How much does not matter. */
export function reasoningIf(isAsked: boolean): Reasoning | null {
  return isAsked ? { effort: 'medium', budgetTokens: null } : null;
}

/** JSON mode of formats without one is an instruction in the prompt, which the sandbox follows. */
export function instructedFormat(system: unknown): OutputFormat {
  const isJson = textsOf(system).some(({ text }) => text === jsonInstruction.text);
  return { type: isJson ? 'json' : 'text' };
}

/** Placeholders, because the sandbox counts images and documents without reading them. */
export const imagePlaceholder = { type: 'image', source: { kind: 'url', url: '' } } as const;
export const documentPlaceholder = { type: 'document', source: { kind: 'url', url: '' } } as const;

/** Sound, whose length is counted. `media`: with its base64 in `data`. */
export function soundPart(media: unknown): DocumentPart {
  const data = textOf(objectOf(media).data);
  return { type: 'document', source: { kind: 'base64', mediaType: 'audio/wav', data } };
}

export function readStop(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((entry) => typeof entry === 'string');
}

export function jsonSchema(schema: unknown, name?: unknown): OutputFormat {
  return {
    type: 'json-schema',
    name: textOf(name) || 'answer',
    description: null,
    schema: objectOf(schema),
    strict: null,
  };
}

/** Reads OpenAI's words `auto`, `none` and `required`, Mistral's `any`, and Cohere's. */
export function readChoiceWord(given: unknown): ToolChoice | null {
  const word = textOf(given).toLowerCase();
  if (word === 'any') return { type: 'required' };
  return word === 'auto' || word === 'none' || word === 'required' ? { type: word } : null;
}

/** The `name` of an object, or ''. */
export function nameOf(value: unknown): string {
  return textOf(objectOf(value).name);
}

/** Reads the content of a user in Chat or Responses. */
export function readOpenAiParts(content: unknown): UserPart[] {
  if (typeof content === 'string') return [textPart(content)];
  return objectsOf(content).flatMap((part): UserPart[] => {
    if (part.type === 'image_url' || part.type === 'input_image') return [imagePlaceholder];
    if (part.type === 'input_audio') return [soundPart(part.input_audio)];
    return part.type === 'file' || part.type === 'input_file'
      ? [documentPlaceholder]
      : textsOf([part]);
  });
}
