// Records a finished request: one line in the log, metrics, the account's activity, and its spans.
import type { Activity } from '../domain/activity/activity.ts';
import type { FinishedRequest } from '../domain/telemetry/finished-request.ts';
import type { Telemetry } from '../domain/telemetry/telemetry.ts';
import type { RequestFields, RequestLog } from '../gateway/request-log.ts';
import type { Logger } from '../lib/log.ts';

type AnsweredRequest = Omit<FinishedRequest, 'fields' | 'route' | 'spans'> & {
  readonly log: RequestLog;
  /** The pattern that matched, as `/v1/models/*`; null: none did. */
  readonly route: string | null;
  /** The public URL that `route` is an alias of; left out when it is none. */
  readonly publicUrl?: string;
};

/** Called when an answer has been sent or its client has gone. */
export type RecordRequest = (request: AnsweredRequest) => void;

type Recorders = {
  readonly log: Logger;
  readonly telemetry: Telemetry;
  readonly activity: Activity;
};

export function createRecorder({ log, telemetry, activity }: Recorders): RecordRequest {
  return (request) => {
    const { route, publicUrl, status, startMs, endMs, isClientGone } = request;
    const { fields, spans } = request.log;
    const tookMs = endMs - startMs;
    const path = publicUrl ?? route ?? '';
    log[status >= 500 ? 'warn' : 'info'](logFieldsOf(request, fields, tookMs), 'request');
    telemetry.metrics.noteAnswered({ fields, route, status, tookMs });
    activity.noteRequest(fields, { path, status, tookMs, isClientGone });
    // A run that outlives its client is charged later.
    spans?.whenOver(() => telemetry.record({ ...request, fields, spans, route: path }));
  };
}

/**
 * Returns the fields of the log line. They are an allow-list: nothing of a header, a query or a
 * body can slip into the log.
 */
function logFieldsOf(
  { method, route, status, isClientGone }: AnsweredRequest,
  fields: RequestFields,
  tookMs: number,
): object {
  return {
    request_id: fields.requestId,
    trace_id: fields.traceId,
    duration_ms: Math.round(tookMs * 10) / 10,
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
  };
}
