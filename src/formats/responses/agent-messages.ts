// Messages between Codex's agents. For its own models, OpenAI encrypts the arguments that a tool marks
// (`encrypted: true`), and the receiving agent gets them as `encrypted_content` of an item
// `agent_message`. Models of other vendors write plain text, and `encrypted_function_args: []` at
// their calls says so. Codex before 0.147 does not look there, and sends plain text as if it were
// encrypted (openai/codex, read 2026-11-30).
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { editAt, editFields } from '../edit-json.ts';
import type { ResponsesRequest, ToolDefinition } from './schema.ts';
import { type QualifiedToolName, toolListsOf } from './tool-names.ts';

/** Throws ApiError `invalid_request` for text that OpenAI has encrypted. */
export function readPlainText(text: string, path: string): string {
  if (!isCipher(text)) return text;
  throw invalidRequest(
    `${path}.encrypted_content`,
    `${path}.encrypted_content can be read by OpenAI's models alone. Use one of them, or let a model of another vendor ` +
      'start the agent: it tells it its task in plain text.',
  );
}

/** OpenAI refuses plain text as `encrypted_content`. */
export function mendEncryptedPart(part: JsonObject): JsonObject {
  const { type, encrypted_content: text } = part;
  if (type !== 'encrypted_content' || typeof text !== 'string' || isCipher(text)) return part;
  return { type: 'input_text', text };
}

function isCipher(text: string): boolean {
  return text.startsWith('gAAAA');
}

/** Returns true if the client's tool has an argument that OpenAI would encrypt. */
export function wantsEncryption(request: ResponsesRequest, called: QualifiedToolName): boolean {
  const isMarked = (tool: ToolDefinition) =>
    tool.type === 'function' &&
    tool.name === called.name &&
    Object.values(tool.parameters?.properties ?? {}).some(isEncrypted);
  return toolListsOf(request).some(({ tools }) =>
    tools.some((tool) =>
      tool.type === 'namespace'
        ? tool.name === called.namespace && tool.tools.some(isMarked)
        : called.namespace === null && isMarked(tool),
    ),
  );
}

/** Returns the parameters of a function for another vendor, who encrypts nothing. */
export function withoutEncryption(parameters: JsonObject): JsonObject {
  return editAt(parameters, ['properties'], (properties) =>
    editFields(
      properties,
      Object.fromEntries(
        Object.entries(properties).map(([name, schema]) => {
          if (!isEncrypted(schema)) return [name, schema];
          const { encrypted: _encrypted, ...plain } = schema;
          return [name, plain];
        }),
      ),
    ),
  );
}

function isEncrypted(schema: unknown): schema is JsonObject {
  return isObject(schema) && schema.encrypted === true;
}
