// What the reader has entered for the next request.
import type { ChatSettings } from '../../../api/chat-formats/types.ts';
import { parseSchema, parseTools } from './definitions.ts';

export type Draft = Omit<ChatSettings, 'tools' | 'toolChoice' | 'schema'> & {
  /** JSON, as it was typed. */
  readonly toolsText: string;
  /** `auto`, `required`, or `tool:` and the name of a tool. */
  readonly toolChoice: string;
  readonly schemaText: string;
  readonly schemaName: string;
  readonly isSchemaStrict: boolean;
};

export const emptyDraft: Draft = {
  system: '',
  maxTokens: null,
  temperature: null,
  effort: null,
  stream: true,
  toolsText: '',
  toolChoice: 'auto',
  schemaText: '',
  schemaName: 'answer',
  isSchemaStrict: true,
};

/** `problem`: what is wrong in the reader's JSON; the request cannot be sent. */
export function readDraft(
  draft: Draft,
): { readonly settings: ChatSettings } | { readonly problem: string } {
  const { toolsText, toolChoice, schemaText, schemaName, isSchemaStrict, ...settings } = draft;
  const tools = parseTools(toolsText);
  if (tools.problem !== undefined) return { problem: `Tools: ${tools.problem}` };
  const schema = parseSchema(schemaText, { name: schemaName || 'answer', strict: isSchemaStrict });
  if (schema.problem !== undefined) return { problem: `Output schema: ${schema.problem}` };
  const name = toolChoice.startsWith('tool:') ? toolChoice.slice(5) : null;
  const isKnown = tools.value.some((tool) => tool.name === name);
  const choice = toolChoice === 'required' ? toolChoice : isKnown ? { name: name! } : null;
  return {
    settings: { ...settings, tools: tools.value, toolChoice: choice, schema: schema.value },
  };
}
