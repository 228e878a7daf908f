// Describes files and batches in both forms.
import { closed, orNull } from '../lib/schema-parts.ts';
import { Type, type TSchema } from 'typebox';
import type { ErrorCode } from '../canonical/errors.ts';
import { BatchRequestSchema, MessageBatchRequestSchema } from '../domain/batches/batch-request.ts';
import { withBody, withScope } from './common-errors.ts';
import { rateHeaders } from './headers.ts';
import type { Operation, Parameter } from './operation.ts';
import { header, json, query } from './operation-parts.ts';

const seconds = Type.Integer();
const secondsOf = (what: string) => Type.Integer({ description: `When ${what}, in Unix seconds.` });
const secondsOrNull = (what: string) => orNull(seconds, `When ${what}, in Unix seconds.`);
const timeOf = (what: string) => Type.String({ format: 'date-time', description: `When ${what}.` });
const timeOrNull = (what: string) =>
  orNull(Type.String({ format: 'date-time' }), `When ${what}; null: not yet.`);
const count = (description: string) => Type.Integer({ minimum: 0, description });
const id = (what: string) => Type.String({ description: `The id of the ${what}.` });
const hasMore = Type.Boolean({ description: 'True when there are others behind this page.' });
const edge = (which: string) => orNull(Type.String(), `The id of the ${which} of the page.`);
const list = (items: TSchema) =>
  closed({
    object: Type.Literal('list', { description: 'Always `list`.' }),
    data: Type.Array(items, { description: 'The page, newest first.' }),
    first_id: edge('first'),
    last_id: edge('last'),
    has_more: hasMore,
  });

const File = closed({
  id: id('file'),
  object: Type.Literal('file', { description: 'Always `file`.' }),
  bytes: count('Its length.'),
  created_at: secondsOf('it was made'),
  expires_at: secondsOf('it is removed'),
  filename: Type.String({ description: 'Its name.' }),
  purpose: Type.Enum(['batch', 'batch_output'], {
    description: '`batch_output`: it has results of a batch.',
  }),
  status: Type.Literal('processed', { description: 'Always `processed`.' }),
});

const Batch = closed({
  id: id('batch'),
  object: Type.Literal('batch', { description: 'Always `batch`.' }),
  endpoint: Type.String({ description: 'The address of all its requests.' }),
  errors: Type.Null({
    description: 'Always null: a batch that cannot be read is refused at once.',
  }),
  input_file_id: orNull(Type.String(), 'The file with its requests.'),
  completion_window: Type.Literal('24h', { description: 'Always `24h`.' }),
  status: Type.Enum(['in_progress', 'completed', 'expired', 'cancelling', 'cancelled'], {
    description: 'Where it is.',
  }),
  output_file_id: orNull(Type.String(), 'The file with the answers, when the batch has ended.'),
  error_file_id: orNull(Type.String(), 'The file with what failed or did not run, likewise.'),
  created_at: secondsOf('it was created'),
  in_progress_at: secondsOf('its requests began'),
  expires_at: secondsOf('requests that have not begun expire'),
  finalizing_at: secondsOrNull('all requests had ended'),
  completed_at: secondsOrNull('it was completed'),
  failed_at: Type.Null({ description: 'Always null.' }),
  expired_at: secondsOrNull('it expired'),
  cancelling_at: secondsOrNull('it was cancelled'),
  cancelled_at: secondsOrNull('its last request had ended after that'),
  request_counts: closed(
    {
      total: count('All requests.'),
      completed: count('Those that were answered.'),
      failed: count('Those that failed.'),
    },
    { description: 'How many requests it has.' },
  ),
  metadata: orNull(Type.Record(Type.String(), Type.String()), 'The client’s own.'),
});

const MessageBatch = closed({
  id: id('batch'),
  type: Type.Literal('message_batch', { description: 'Always `message_batch`.' }),
  processing_status: Type.Enum(['in_progress', 'canceling', 'ended'], {
    description: 'Where it is.',
  }),
  request_counts: closed(
    {
      processing: count('All requests, until the batch has ended.'),
      succeeded: count('Those that were answered.'),
      errored: count('Those that failed.'),
      canceled: count('Those that a cancellation kept from running.'),
      expired: count('Those that did not begin within 24 hours.'),
    },
    { description: 'How many requests it has.' },
  ),
  created_at: timeOf('it was created'),
  expires_at: timeOf('requests that have not begun expire'),
  ended_at: timeOrNull('it ended'),
  cancel_initiated_at: timeOrNull('it was cancelled'),
  archived_at: Type.Null({ description: 'Always null.' }),
  results_url: orNull(Type.String(), 'The address of the results, when it has ended.'),
});

export const batchSchemas = { BatchFile: File, Batch, MessageBatch };

const idempotencyKey = header(
  'Idempotency-Key',
  'Repeats with the same key and body get the same batch, for a day.',
);
const tags = header('tags', 'Tags of all its requests.');
const idOf = (what: string): Parameter => ({
  name: 'id',
  in: 'path',
  description: `The id of the ${what}.`,
  schema: Type.String(),
});
const limit = (maximum: number) =>
  query('limit', 'How many a page has.', Type.Integer({ minimum: 1, maximum, default: 20 }));
const after = query('after', 'The `last_id` of the page before.');

const creating: readonly ErrorCode[] = [
  ...withScope,
  ...withBody,
  'account_frozen',
  'insufficient_balance',
  'idempotency_conflict',
  'key_daily_limit_reached',
  'key_monthly_limit_reached',
  'member_budget_reached',
];
const finding: readonly ErrorCode[] = [...withScope, 'not_found'];
const answer = (schema: TSchema, description: string) => ({
  200: { description, content: json(schema) },
});
const created = (schema: TSchema, description: string) => ({
  200: { description, headers: [...rateHeaders, 'cache'] as const, content: json(schema) },
});
const shared = { tag: 'Batches', access: 'key', errors: finding } as const;
const ofMessages = { ...shared, errorShape: 'messages' } as const;
const one = (what: string, schema: TSchema) => ({
  parameters: [idOf(what)],
  answers: answer(schema, `The ${what}.`),
});
const oneFile = { ...shared, ...one('file', File) };
const oneBatch = { ...shared, ...one('batch', Batch) };
const oneMessageBatch = { ...ofMessages, ...one('batch', MessageBatch) };

export const batchOperations = {
  'POST /v1/files': {
    ...shared,
    id: 'createFile',
    summary: 'Store the requests of a batch',
    description:
      'A form in OpenAI’s format, with `purpose` `batch` and the requests as `file`: one a line, as JSON, ' +
      '`{"custom_id","method":"POST","url","body"}`. `expires_after[seconds]` says how long it is kept.',
    body: {
      content: {
        'multipart/form-data': Type.Object({
          purpose: Type.Literal('batch', { description: 'Always `batch`.' }),
          file: Type.String({ format: 'binary', description: 'The requests.' }),
        }),
      },
    },
    answers: created(File, 'The file.'),
    errors: [...withScope, ...withBody],
  },
  'GET /v1/files': {
    ...shared,
    id: 'listFiles',
    summary: 'List stored requests of batches',
    description: 'Files with results are not listed; their batches name them.',
    parameters: [
      limit(10_000),
      after,
      query('order', 'By time of creation.', Type.Enum(['asc', 'desc'], { default: 'desc' })),
    ],
    answers: answer(list(File), 'The files.'),
  },
  'GET /v1/files/:id': { ...oneFile, id: 'getFile', summary: 'Get a file' },
  'GET /v1/files/:id/content': {
    ...oneFile,
    id: 'getFileContent',
    summary: 'Read a file',
    answers: {
      200: {
        description: 'Lines of JSON.',
        content: { 'application/octet-stream': Type.Unsafe<string>({}) },
      },
    },
  },
  'DELETE /v1/files/:id': {
    ...oneFile,
    id: 'deleteFile',
    summary: 'Remove a file',
    answers: answer(
      closed({
        id: id('file'),
        object: Type.Literal('file', { description: 'Always `file`.' }),
        deleted: Type.Literal(true, { description: 'It is gone.' }),
      }),
      'It was removed.',
    ),
  },
  'POST /v1/batches': {
    ...shared,
    id: 'createBatch',
    summary: 'Run the requests of a file',
    description:
      'Every request is read and held for before the answer. One that its endpoint refuses has ended with that error, free of charge.',
    parameters: [idempotencyKey, tags],
    body: { content: json(BatchRequestSchema) },
    answers: created(Batch, 'The batch.'),
    errors: [...creating, 'not_found'],
  },
  'GET /v1/batches': {
    ...shared,
    id: 'listBatches',
    summary: 'List batches',
    parameters: [limit(100), after],
    answers: answer(list(Batch), 'The batches.'),
  },
  'GET /v1/batches/:id': { ...oneBatch, id: 'getBatch', summary: 'Get a batch' },
  'POST /v1/batches/:id/cancel': {
    ...oneBatch,
    id: 'cancelBatch',
    summary: 'Begin no further request of a batch',
  },
  'POST /v1/messages/batches': {
    ...ofMessages,
    id: 'createMessageBatch',
    summary: 'Run many requests in Anthropic’s Messages format',
    description:
      'Every request is read and held for before the answer. One that is refused has ended with that error, free of charge.',
    parameters: [idempotencyKey, tags],
    body: { content: json(MessageBatchRequestSchema) },
    answers: created(MessageBatch, 'The batch.'),
    errors: creating,
  },
  'GET /v1/messages/batches': {
    ...ofMessages,
    id: 'listMessageBatches',
    summary: 'List batches in Anthropic’s Messages format',
    parameters: [
      limit(1_000),
      query('after_id', 'The `last_id` of the page before.'),
      query('before_id', 'The `first_id` of the page behind.'),
    ],
    answers: answer(
      closed({
        data: Type.Array(MessageBatch, { description: 'The page, newest first.' }),
        has_more: hasMore,
        first_id: edge('first'),
        last_id: edge('last'),
      }),
      'The batches.',
    ),
  },
  'GET /v1/messages/batches/:id': {
    ...oneMessageBatch,
    id: 'getMessageBatch',
    summary: 'Get a batch in Anthropic’s Messages format',
  },
  'GET /v1/messages/batches/:id/results': {
    ...oneMessageBatch,
    id: 'getMessageBatchResults',
    summary: 'Read the results of a batch that has ended',
    answers: {
      200: {
        description: 'A result a line, as JSON.',
        content: { 'application/x-jsonl': Type.Unsafe<string>({}) },
      },
    },
  },
  'POST /v1/messages/batches/:id/cancel': {
    ...oneMessageBatch,
    id: 'cancelMessageBatch',
    summary: 'Begin no further request of a batch in Anthropic’s Messages format',
  },
  'DELETE /v1/messages/batches/:id': {
    ...oneMessageBatch,
    id: 'deleteMessageBatch',
    summary: 'Remove a batch that has ended, with its results',
    answers: answer(
      closed({
        id: id('batch'),
        type: Type.Literal('message_batch_deleted', {
          description: 'Always `message_batch_deleted`.',
        }),
      }),
      'It was removed.',
    ),
  },
} as const satisfies Readonly<Record<string, Operation>>;
