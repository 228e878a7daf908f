// What a chat client needs of a wire format: it writes requests, and reads whole answers and stream
// events into one `Answer`.

export type FormatName = 'responses' | 'chat' | 'messages' | 'gemini';

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof efforts)[number];

export type Json = { readonly [field: string]: unknown };

/** `data`: the file as base64. A text file is sent as text. `link`: where the provider finds the file. */
export type Attachment =
  | {
      readonly kind: 'image' | 'pdf';
      readonly name: string;
      readonly mediaType: string;
      readonly data: string;
    }
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | { readonly kind: 'link'; readonly media: 'image' | 'pdf'; readonly url: string };

/** `arguments`: JSON text as the model wrote it. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** Files are only shown: the formats' writers send the text. */
export type ToolResult = {
  readonly callId: string;
  readonly output: string;
  readonly attachments?: readonly Attachment[];
};

export type Message =
  | {
      readonly role: 'user';
      readonly text: string;
      readonly attachments?: readonly Attachment[];
    }
  | ({ readonly role: 'assistant'; readonly format: FormatName } & Pick<
      Answer,
      'text' | 'calls' | 'echo'
    > &
      Partial<Pick<Answer, 'reasoning' | 'images'>>)
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

export type ToolDefinition = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Json;
};

export type OutputSchema = {
  readonly name: string;
  readonly schema: Json;
  readonly strict: boolean;
};

/** Null fields use the model's default. */
export type ChatSettings = {
  readonly system: string;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  readonly effort: Effort | null;
  readonly stream: boolean;
  readonly tools: readonly ToolDefinition[];
  /** null: the model decides. */
  readonly toolChoice: 'required' | { readonly name: string } | null;
  readonly schema: OutputSchema | null;
};

export const defaultSettings: ChatSettings = {
  system: '',
  maxTokens: null,
  temperature: null,
  effort: null,
  stream: true,
  tools: [],
  toolChoice: null,
  schema: null,
};

export type ChatRequest = ChatSettings & {
  readonly model: string;
  readonly messages: readonly Message[];
};

/** A request as it was sent: instructions keep their place, and `system` is empty. */
export type ReadRequest = ChatSettings & {
  readonly model: string;
  readonly messages: readonly (Message | { readonly role: 'system'; readonly text: string })[];
};

/** An answer as far as it has arrived. */
export type Answer = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  readonly images?: readonly Attachment[];
  /**
   * The answer in the format's own shape, with its signed reasoning. It goes back unchanged with the
   * next request of the same format.
   */
  readonly echo: readonly Json[];
  /** Stop reason, in the format's own words. */
  readonly stop?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Sent with the final usage. */
  readonly costMicros?: number;
  /** Set when the answer fails after it began. */
  readonly error?: { readonly code: string; readonly message: string };
};

export const noAnswer: Answer = { text: '', reasoning: '', calls: [], echo: [] };

export type ChatFormat = {
  readonly name: FormatName;
  readonly label: string;
  readonly path: `/v1${string}`;
  readonly efforts: readonly Effort[];
  readonly temperatureMax: number;
  readonly writeBody: (request: ChatRequest) => Json;
  /** Adds an event of a stream to the answer. `event`: its name; empty in formats without names. */
  readonly readEvent: (answer: Answer, event: string, data: unknown) => Answer;
  readonly readAnswer: (body: unknown) => Answer;
};
