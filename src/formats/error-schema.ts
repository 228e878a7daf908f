// The bodies of errors, as schemas. The codes come from the registry (`canonical/errors.ts`).
import { Type, type TSchema } from 'typebox';
import { keyScopes } from '../terms/key-scope.ts';
import { errorKinds, type ErrorCode } from '../canonical/errors.ts';

const codes = Object.keys(errorKinds) as ErrorCode[];
const requestId = Type.String({
  pattern: '^req_',
  description: 'Also in the header `x-request-id`.',
});
const message = Type.String({ description: 'What is wrong and what to do.' });
const param = Type.Union([Type.String(), Type.Null()], {
  description: 'The path of the field at fault: `messages[0].content`.',
});
const documentationUrl = Type.String({
  pattern: '/docs/errors#[a-z_]+$',
  description: 'Where the documentation explains the code; a path if no address is configured.',
});
const micros = Type.Optional(Type.Integer());
const count = Type.Optional(Type.Number());

const ownOrOpenai = Type.String({
  description: "The registry's code, or OpenAI's own if OpenAI refused the request.",
});

/** The facts behind a refusal. docs/errors.md explains them by code. */
const details = {
  limit: Type.Optional(Type.String({ description: 'The limit that refused the request.' })),
  required_micros: micros,
  left_micros: micros,
  held_micros: micros,
  cap_micros: micros,
  spent_micros: micros,
  affordable_output_tokens: count,
  affordable_images: count,
  affordable_characters: count,
  affordable_seconds: count,
  affordable_searches: count,
  affordable_search_units: count,
  web_searches: count,
  resets_at: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  scope: Type.Optional(Type.Enum(['key', 'account'])),
  needed_scope: Type.Optional(Type.Enum([...keyScopes])),
  maximum: count,
  remaining: count,
  required: count,
  reset_seconds: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  provoked_loss_micros: micros,
  loss_budget_micros: micros,
  charged_micros: micros,
};

export const ErrorDetails = Type.Optional(
  Type.Object(details, { description: 'Facts about the refusal, by code.' }),
);

/** `openai`: at every path but those of the other formats. */
type Shape = 'openai' | 'chat';

export const ErrorFields = errorFieldsWith(codes, 'openai');
export const ChatErrorFields = errorFieldsWith(codes, 'chat');

/** The error of a path in OpenAI's shape, with one of these codes. */
export function errorWith(allowed: readonly ErrorCode[], shape: Shape): TSchema {
  return Type.Object({ error: errorFieldsWith(allowed, shape) }, { additionalProperties: false });
}

function errorFieldsWith(allowed: readonly ErrorCode[], shape: Shape) {
  const own = (description?: string) =>
    Type.Enum([...allowed], description === undefined ? {} : { description });
  return Type.Object(
    {
      message,
      type:
        shape === 'chat'
          ? Type.String({ description: 'The type that OpenAI has for the status.' })
          : own("The registry's code."),
      code: allowed.includes('invalid_request') ? ownOrOpenai : own(),
      param,
      request_id: requestId,
      documentation_url: documentationUrl,
      details: ErrorDetails,
    },
    { additionalProperties: false },
  );
}

/** The error of `/v1/messages` and below, with one of these codes. */
export function messagesErrorWith(allowed: readonly ErrorCode[]): TSchema {
  return Type.Object(
    {
      type: Type.Literal('error'),
      error: Type.Object({
        ...details,
        type: Type.String({ description: 'The type that Anthropic has for the status.' }),
        message,
        code: Type.Enum([...allowed]),
        param: Type.Optional(Type.String()),
        details: Type.Optional(
          Type.Object({}, { description: "Anthropic's own details, if it refused the request." }),
        ),
        documentation_url: documentationUrl,
      }),
      request_id: requestId,
    },
    { additionalProperties: false },
  );
}

/** The error of the dashboard's API and the admin API, with one of these codes: a problem of RFC 9457. */
export function problemWith(allowed: readonly ErrorCode[]): TSchema {
  return Type.Object(
    {
      type: documentationUrl,
      title: Type.String({ description: 'The meaning of the code.' }),
      status: Type.Integer(),
      detail: message,
      instance: Type.String({ pattern: '^#req_' }),
      code: Type.Enum([...allowed]),
      param,
      request_id: requestId,
      details: ErrorDetails,
    },
    { additionalProperties: false },
  );
}

/** The error of Google's paths, with one of these codes. */
export function geminiErrorWith(allowed: readonly ErrorCode[]): TSchema {
  const reasons = allowed.map((code) => code.toUpperCase());
  return Type.Object(
    {
      error: Type.Object({
        code: Type.Integer({ description: 'The HTTP status.' }),
        message,
        status: Type.String({ description: 'The word that Google has for the status.' }),
        details: Type.Array(
          Type.Object({
            '@type': Type.String({ description: 'What it tells: `…/google.rpc.ErrorInfo`.' }),
            reason: Type.Optional(
              Type.Enum(reasons, { description: "Of `ErrorInfo`: the registry's code." }),
            ),
            metadata: Type.Optional(
              Type.Record(Type.String(), Type.String(), {
                description: 'Of `ErrorInfo`: the facts about the refusal, and the request id.',
              }),
            ),
            retryDelay: Type.Optional(
              Type.String({ description: 'Of `RetryInfo`: when to try again, such as `30s`.' }),
            ),
          }),
          { description: 'Facts about the refusal.' },
        ),
      }),
    },
    { additionalProperties: false },
  );
}

export const AnyMessagesError = messagesErrorWith(codes);
export const AnyGeminiError = geminiErrorWith(codes);
