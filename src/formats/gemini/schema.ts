// The schema of a generateContent request, in camelCase (`field-names.ts`). Unknown fields and kinds of
// tools pass here: later checks decide about them. The official types are those of the npm package
// `@google/genai` 3.3 and of https://ai.google.dev/api/generate-content (read 2026-11-29).
import { Type, type Static } from 'typebox';
import { addressText } from '../../lib/address-text.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';

const name = Type.String({ minLength: 1 });
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const texts = Type.Array(Type.String());

const inlineData = Type.Object({ mimeType: name, data: Type.String() });
const fileData = Type.Object({
  mimeType: optionalOrNull(Type.String()),
  fileUri: addressText({ minLength: 1 }),
});
export const part = Type.Object({
  text: optionalOrNull(Type.String()),
  thought: optionalOrNull(Type.Boolean()),
  thoughtSignature: optionalOrNull(Type.String()),
  inlineData: optionalOrNull(inlineData),
  fileData: optionalOrNull(fileData),
  functionCall: optionalOrNull(
    Type.Object({ id: optionalOrNull(Type.String()), name, args: optionalOrNull(jsonObject) }),
  ),
  functionResponse: optionalOrNull(
    Type.Object({
      id: optionalOrNull(Type.String()),
      name,
      response: optionalOrNull(jsonObject),
      parts: optionalOrNull(
        Type.Array(
          Type.Object({
            inlineData: optionalOrNull(inlineData),
            fileData: optionalOrNull(fileData),
          }),
        ),
      ),
    }),
  ),
  executableCode: optionalOrNull(
    Type.Object({ code: Type.String(), language: optionalOrNull(Type.String()) }),
  ),
  codeExecutionResult: optionalOrNull(
    Type.Object({ outcome: optionalOrNull(Type.String()), output: optionalOrNull(Type.String()) }),
  ),
  toolCall: optionalOrNull(jsonObject),
  toolResponse: optionalOrNull(jsonObject),
});
export const content = Type.Object({
  /** `user`, `model`, or `function`, the old name of a turn with results. */
  role: optionalOrNull(Type.String()),
  parts: optionalOrNull(Type.Array(part)),
});

const functionDeclaration = Type.Object({
  name,
  description: optionalOrNull(Type.String()),
  parameters: optionalOrNull(jsonObject),
  parametersJsonSchema: optionalOrNull(jsonObject),
});
const tool = Type.Object({
  functionDeclarations: optionalOrNull(Type.Array(functionDeclaration)),
  codeExecution: optionalOrNull(jsonObject),
  urlContext: optionalOrNull(jsonObject),
});

const thinkingConfig = Type.Object({
  includeThoughts: optionalOrNull(Type.Boolean()),
  thinkingBudget: optionalOrNull(Type.Integer({ minimum: -1 })),
  thinkingLevel: optionalOrNull(Type.String()),
});
const generationConfig = Type.Object({
  temperature: optionalOrNull(Type.Number({ minimum: 0, maximum: 2 })),
  topP: optionalOrNull(Type.Number({ minimum: 0, maximum: 1 })),
  topK: optionalOrNull(Type.Number({ minimum: 0 })),
  candidateCount: optionalOrNull(Type.Integer({ minimum: 1, maximum: 8 })),
  maxOutputTokens: optionalOrNull(Type.Integer({ minimum: 1 })),
  stopSequences: optionalOrNull(texts),
  responseMimeType: optionalOrNull(Type.String()),
  responseSchema: optionalOrNull(jsonObject),
  responseJsonSchema: optionalOrNull(jsonObject),
  responseModalities: optionalOrNull(texts),
  presencePenalty: optionalOrNull(Type.Number()),
  frequencyPenalty: optionalOrNull(Type.Number()),
  seed: optionalOrNull(Type.Integer()),
  responseLogprobs: optionalOrNull(Type.Boolean()),
  logprobs: optionalOrNull(Type.Integer({ minimum: 0, maximum: 20 })),
  thinkingConfig: optionalOrNull(thinkingConfig),
});

const fields = {
  contents: Type.Array(content, { minItems: 1 }),
  systemInstruction: optionalOrNull(content),
  tools: optionalOrNull(Type.Array(tool)),
  toolConfig: optionalOrNull(
    Type.Object({
      functionCallingConfig: optionalOrNull(
        Type.Object({
          mode: optionalOrNull(Type.String()),
          allowedFunctionNames: optionalOrNull(texts),
          streamFunctionCallArguments: optionalOrNull(Type.Boolean()),
        }),
      ),
      includeServerSideToolInvocations: optionalOrNull(Type.Boolean()),
    }),
  ),
  generationConfig: optionalOrNull(generationConfig),
  safetySettings: optionalOrNull(Type.Array(jsonObject)),
  labels: optionalOrNull(Type.Record(Type.String(), Type.String())),
  serviceTier: optionalOrNull(Type.String()),
};

export const requestSchema = Type.Object(fields);

/** `model`, `stream` and `alt` come from the path. */
export const addressedSchema = Type.Object({
  model: name,
  stream: optionalOrNull(Type.Boolean()),
  ...fields,
});

export type GeminiRequest = Static<typeof addressedSchema>;
export type Content = Static<typeof content>;
export type Part = Static<typeof part>;
export type GenerationConfig = Static<typeof generationConfig>;
