// The schema of a generateContent request, in camelCase (`field-names.ts`). Unknown fields and kinds of
// tools pass here: later checks decide about them. The official types are those of the npm package
// `@google/genai` 3.3 and of https://ai.google.dev/api/generate-content (read 2026-11-29).
import { Type, type Static } from 'typebox';
import { addressText } from '../../lib/address-text.ts';
import { optional } from '../schema-parts.ts';

const name = Type.String({ minLength: 1 });
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const texts = Type.Array(Type.String());

const inlineData = Type.Object({ mimeType: name, data: Type.String() });
const fileData = Type.Object({
  mimeType: optional(Type.String()),
  fileUri: addressText({ minLength: 1 }),
});
export const part = Type.Object({
  text: optional(Type.String()),
  thought: optional(Type.Boolean()),
  thoughtSignature: optional(Type.String()),
  inlineData: optional(inlineData),
  fileData: optional(fileData),
  functionCall: optional(
    Type.Object({ id: optional(Type.String()), name, args: optional(jsonObject) }),
  ),
  functionResponse: optional(
    Type.Object({
      id: optional(Type.String()),
      name,
      response: optional(jsonObject),
      parts: optional(
        Type.Array(Type.Object({ inlineData: optional(inlineData), fileData: optional(fileData) })),
      ),
    }),
  ),
  executableCode: optional(Type.Object({ code: Type.String(), language: optional(Type.String()) })),
  codeExecutionResult: optional(
    Type.Object({ outcome: optional(Type.String()), output: optional(Type.String()) }),
  ),
  toolCall: optional(jsonObject),
  toolResponse: optional(jsonObject),
});
export const content = Type.Object({
  /** `user`, `model`, or `function`, the old name of a turn with results. */
  role: optional(Type.String()),
  parts: optional(Type.Array(part)),
});

const functionDeclaration = Type.Object({
  name,
  description: optional(Type.String()),
  parameters: optional(jsonObject),
  parametersJsonSchema: optional(jsonObject),
});
const tool = Type.Object({
  functionDeclarations: optional(Type.Array(functionDeclaration)),
  codeExecution: optional(jsonObject),
  urlContext: optional(jsonObject),
});

const thinkingConfig = Type.Object({
  includeThoughts: optional(Type.Boolean()),
  thinkingBudget: optional(Type.Integer({ minimum: -1 })),
  thinkingLevel: optional(Type.String()),
});
const generationConfig = Type.Object({
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  topP: optional(Type.Number({ minimum: 0, maximum: 1 })),
  topK: optional(Type.Number({ minimum: 0 })),
  candidateCount: optional(Type.Integer({ minimum: 1, maximum: 8 })),
  maxOutputTokens: optional(Type.Integer({ minimum: 1 })),
  stopSequences: optional(texts),
  responseMimeType: optional(Type.String()),
  responseSchema: optional(jsonObject),
  responseJsonSchema: optional(jsonObject),
  responseModalities: optional(texts),
  presencePenalty: optional(Type.Number()),
  frequencyPenalty: optional(Type.Number()),
  seed: optional(Type.Integer()),
  responseLogprobs: optional(Type.Boolean()),
  logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
  thinkingConfig: optional(thinkingConfig),
});

const fields = {
  contents: Type.Array(content, { minItems: 1 }),
  systemInstruction: optional(content),
  tools: optional(Type.Array(tool)),
  toolConfig: optional(
    Type.Object({
      functionCallingConfig: optional(
        Type.Object({
          mode: optional(Type.String()),
          allowedFunctionNames: optional(texts),
          streamFunctionCallArguments: optional(Type.Boolean()),
        }),
      ),
      includeServerSideToolInvocations: optional(Type.Boolean()),
    }),
  ),
  generationConfig: optional(generationConfig),
  safetySettings: optional(Type.Array(jsonObject)),
  labels: optional(Type.Record(Type.String(), Type.String())),
  serviceTier: optional(Type.String()),
};

export const requestSchema = Type.Object(fields);

/** `model`, `stream` and `alt` come from the path. */
export const addressedSchema = Type.Object({
  model: name,
  stream: optional(Type.Boolean()),
  ...fields,
});

export type GeminiRequest = Static<typeof addressedSchema>;
export type Content = Static<typeof content>;
export type Part = Static<typeof part>;
export type GenerationConfig = Static<typeof generationConfig>;
