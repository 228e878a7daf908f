// `POST /v1/messages/count_tokens`: how many tokens a Messages request's input is, free of charge.
import { countTokens } from '../gateway/count-tokens.ts';
import { keyOf, type Handler, type ServerContext } from './context.ts';
import { readJsonBody } from './middleware/body.ts';

export function getTokenCount({ gateway, largeBodies }: ServerContext): Handler {
  return async (request, reply) => {
    const turn = largeBodies.turn(request.body);
    if (turn) await turn;
    reply.header('request-id', request.requestId);
    const beta = request.headers['anthropic-beta'];
    const run = gateway.runs.open();
    reply.raw.once('close', () => run.abort());
    try {
      const { inputTokens, headers } = await countTokens(gateway, {
        requestId: request.requestId,
        key: keyOf(request),
        body: readJsonBody(request),
        forwardable: beta === undefined ? {} : { 'anthropic-beta': String(beta) },
        trace: request.trace,
        signal: run.signal,
      });
      return await reply.headers(headers).send({ input_tokens: inputTokens });
    } finally {
      gateway.runs.close(run);
    }
  };
}
