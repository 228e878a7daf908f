// Logs one line for each answered request.
import type { RequestAnswered } from '../events/request-events.ts';
import type { RequestListener } from '../events/request-listener.ts';
import type { RequestFields } from '../events/request-fields.ts';
import type { Logger } from '../lib/log.ts';

export function logRequests(log: Pick<Logger, 'info' | 'warn'>): RequestListener {
  return {
    hear(event, { fields }) {
      if (event.type === 'answered')
        log[event.status >= 500 ? 'warn' : 'info'](logFieldsOf(event, fields), 'request');
    },
  };
}

/**
 * Returns the fields of the log line. They are an allow-list: nothing of a header, a query or a
 * body can slip into the log.
 */
function logFieldsOf(
  { method, route, status, isClientGone, startMs, endMs }: RequestAnswered,
  fields: RequestFields,
): object {
  return {
    request_id: fields.requestId,
    trace_id: fields.traceId,
    duration_ms: Math.round((endMs - startMs) * 10) / 10,
    first_byte_ms: fields.firstByteMs,
    client_gone: isClientGone,
    method,
    route,
    status,
    account_id: fields.accountId,
    key_id: fields.keyId,
    admin_key_id: fields.adminKeyId,
    mode: fields.mode,
    model: fields.model,
    provider: fields.provider,
    attempts: fields.attempts,
    stream: fields.stream,
    cache: fields.cache,
    input_tokens: fields.inputTokens,
    output_tokens: fields.outputTokens,
    hold_micros: fields.holdMicros,
    cost_micros: fields.costMicros,
    loss_micros: fields.lossMicros,
    ending: fields.ending,
    error_code: fields.errorCode,
    upstream_status: fields.upstreamStatus,
    withheld_reasoning: fields.withheld,
  };
}
