// Records a finished request: one line in the log, metrics, and the account's activity.
import type { Activity } from '../domain/activity/activity.ts';
import type { Telemetry } from '../domain/telemetry/telemetry.ts';
import type { RequestFields } from '../gateway/request-log.ts';
import type { Logger } from '../lib/log.ts';

type FinishedRequest = {
  readonly fields: RequestFields;
  readonly method: string;
  /** The pattern that matched, as `/v1/models/*`; null: none did. */
  readonly route: string | null;
  /** The public URL that `route` is an alias of; left out when it is none. */
  readonly publicUrl?: string;
  readonly status: number;
  readonly tookMs: number;
  /** The client disconnected before it had the whole answer. */
  readonly isClientGone: boolean;
};

export type RecordRequest = (request: FinishedRequest) => void;

type Recorders = {
  readonly log: Logger;
  readonly telemetry: Telemetry;
  readonly activity: Activity;
};

export function createRecorder({ log, telemetry, activity }: Recorders): RecordRequest {
  return (request) => {
    const { fields, route, publicUrl, status, tookMs, isClientGone } = request;
    log[status >= 500 ? 'warn' : 'info'](logFieldsOf(request), 'request');
    telemetry.metrics.noteAnswered(request);
    activity.noteRequest(fields, { path: publicUrl ?? route ?? '', status, tookMs, isClientGone });
  };
}

/**
 * Returns the fields of the log line. They are an allow-list: nothing of a header, a query or a
 * body can slip into the log.
 */
function logFieldsOf({
  fields,
  method,
  route,
  status,
  tookMs,
  isClientGone,
}: FinishedRequest): object {
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
