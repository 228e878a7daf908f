// Requests with every known field set, in each client format, so that a mutation can break many
// things.
import type { UpstreamWireName } from './answers.ts';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

const schema: Json = {
  type: 'object',
  properties: {
    city: { type: 'string', pattern: '^[A-Z]+$' },
    days: { type: 'array', items: { $ref: '#/$defs/day' }, minItems: 2 },
  },
  required: ['city', 'days'],
  $defs: { day: { anyOf: [{ const: 'today' }, { type: 'integer', minimum: 1 }] } },
};
const image = 'data:image/png;base64,iVBORw0KGgo=';

export const richBodies: Readonly<Record<UpstreamWireName, Readonly<Record<string, Json>>>> = {
  responses: {
    model: 'gpt-6-luna',
    instructions: 'Be brief.',
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hi' },
          { type: 'input_image', image_url: image },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"city":"OSLO"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Rain' },
      { role: 'user', content: 'And now?' },
    ],
    max_output_tokens: 200,
    temperature: 1,
    top_p: 0.9,
    tools: [
      { type: 'function', name: 'look', description: 'Looks.', parameters: schema, strict: false },
    ],
    tool_choice: { type: 'function', name: 'look' },
    parallel_tool_calls: true,
    reasoning: { effort: 'low' },
    truncation: 'auto',
    previous_response_id: 'resp_1',
    store: true,
    text: { format: { type: 'text' } },
    metadata: { a: 'b' },
    include: [],
  },
  chat: {
    model: 'gpt-6-luna',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: image } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'look', arguments: '{"city":"OSLO"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
      { role: 'user', content: 'And now?' },
    ],
    max_completion_tokens: 200,
    temperature: 1,
    top_p: 0.9,
    n: 1,
    stop: ['END'],
    stream_options: { include_usage: true },
    tools: [
      { type: 'function', function: { name: 'look', description: 'Looks.', parameters: schema } },
    ],
    tool_choice: 'required',
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    reasoning_effort: 'low',
    seed: 1,
    user: 'u',
    metadata: { a: 'b' },
    logit_bias: {},
  },
  messages: {
    model: 'claude-haiku-4-5',
    max_tokens: 2_000,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
          },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { city: 'OSLO' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'Rain' }] },
        ],
      },
    ],
    temperature: 1,
    top_k: 4,
    stop_sequences: ['END'],
    tools: [{ name: 'look', description: 'Looks.', input_schema: schema }],
    tool_choice: { type: 'auto' },
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    metadata: { user_id: 'u' },
    output_config: { effort: 'low' },
  },
  gemini: {
    model: 'gemini-3.5-flash',
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'Hi' },
          { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
          { fileData: { mimeType: 'image/png', fileUri: 'https://e.example/a.png' } },
        ],
      },
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          {
            functionCall: { id: 'call_1', name: 'look', args: { city: 'OSLO' } },
            thoughtSignature: 'c2lnbmVk',
          },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'call_1', name: 'look', response: { output: 'Rain' } } }],
      },
      { role: 'user', parts: [{ text: 'And now?' }] },
    ],
    tools: [
      {
        function_declarations: [
          { name: 'look', description: 'Looks.', parametersJsonSchema: schema },
          {
            name: 'find',
            parameters: {
              type: 'OBJECT',
              properties: { day: { type: 'STRING', nullable: true, enum: ['today'] } },
            },
          },
        ],
      },
      { googleSearch: {} },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
    generationConfig: {
      maxOutputTokens: 2_000,
      temperature: 1,
      topP: 0.9,
      topK: 4,
      candidateCount: 1,
      seed: 1,
      stopSequences: ['END'],
      thinkingConfig: { include_thoughts: true, thinkingBudget: 1_024 },
      responseModalities: ['TEXT'],
    },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    serviceTier: 'standard',
    labels: { a: 'b' },
  },
};
