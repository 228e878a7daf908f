// Counts the tokens of a request's input, free of charge: `POST /v1/messages/count_tokens`, and for any
// model `POST /v1/responses/input_tokens` and Gemini's `countTokens`.
import type { FastifyRequest } from 'fastify';
import { writeInputCount } from '../formats/responses/count-tokens.ts';
import { snapshotOf } from '../gateway/gateway.ts';
import {
  geminiCount,
  messagesCount,
  responsesCount,
  type CountEndpoint,
} from '../gateway/models/count-endpoints.ts';
import { countInput, type TokenCount } from '../gateway/models/count-input.ts';
import { forwardedHeaders, headersOf } from './charged.ts';
import { keyOf, type Handler, type ServerContext } from './context.ts';
import { readAddressedBody } from './google-paths.ts';
import { readJsonBody } from './middleware/body.ts';
import { addAnthropicsId } from './middleware/trace.ts';

export function getTokenCount(context: ServerContext): Handler {
  return counting(context, messagesCount, ({ inputTokens }) => ({ input_tokens: inputTokens }));
}

export function getInputCount(context: ServerContext): Handler {
  return counting(context, responsesCount, writeInputCount);
}

/** Google's answer names the parts of the count; here all of them are text. */
export function getGeminiCount(context: ServerContext): Handler {
  const write = ({ inputTokens }: TokenCount) => ({
    totalTokens: inputTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: inputTokens }],
  });
  return counting(context, geminiCount, write, readAddressedBody('whole'));
}

function counting(
  { gateway, largeBodies }: ServerContext,
  endpoint: CountEndpoint,
  write: (counted: TokenCount) => object,
  readBody: (request: FastifyRequest) => unknown = readJsonBody,
): Handler {
  return async (request, reply) => {
    const nextTurn = largeBodies.turnsOf(request.body);
    if (nextTurn) await nextTurn();
    addAnthropicsId(request, reply);
    const run = gateway.runs.open();
    reply.raw.once('close', () => run.stop());
    try {
      const body = readBody(request);
      if (nextTurn) await nextTurn();
      const counted = await countInput(snapshotOf(gateway), endpoint, {
        requestId: request.requestId,
        key: keyOf(request),
        body,
        forwardable: headersOf(request, forwardedHeaders),
        record: request.requestRecord,
        signal: run.waiting,
      });
      return await reply.headers(counted.headers).send(write(counted));
    } finally {
      run.close();
    }
  };
}
