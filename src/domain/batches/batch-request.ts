// The requests that create batches, and the lines in them.
import { Type } from 'typebox';
import { batchPaths } from '../../terms/batch.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';

/** OpenAI's. */
export const BatchRequestSchema = Type.Object({
  input_file_id: Type.String({ minLength: 1, description: 'The file with the requests.' }),
  endpoint: Type.Enum([...batchPaths.openai], { description: 'The `url` of all lines.' }),
  completion_window: Type.Literal('24h', { description: 'Always `24h`.' }),
  metadata: optionalOrNull(Type.Record(Type.String(), Type.String({ maxLength: 512 }))),
  output_expires_after: Type.Optional(
    Type.Object(
      {
        anchor: Type.Literal('created_at', { description: 'Always `created_at`.' }),
        seconds: Type.Integer({
          minimum: 3_600,
          maximum: 2_592_000,
          description: 'Seconds; at least a day.',
        }),
      },
      { description: 'How long the results are kept; default: 30 days.' },
    ),
  ),
});

export const BatchLineSchema = Type.Object({
  custom_id: Type.String({ minLength: 1, maxLength: 512 }),
  method: Type.Literal('POST'),
  url: Type.String(),
  body: Type.Object({}),
});

/** Anthropic's. */
export const MessageBatchRequestSchema = Type.Object({
  requests: Type.Array(
    Type.Object({
      custom_id: Type.String({
        pattern: '^[a-zA-Z0-9_-]{1,64}$',
        description: 'The client’s name of the request, once in the batch.',
      }),
      params: Type.Object(
        {},
        { description: 'The body of `POST /v1/messages`, without `stream`.' },
      ),
    }),
  ),
});
