// Sends records as a CSV file.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { ManagementContext } from './context.ts';

type CsvFile = {
  readonly kind: 'usage' | 'statement';
  readonly name: string;
  readonly records: AsyncIterable<string>;
};

/** Streams the records as fast as the client reads. */
export function sendCsv(
  { gateway: { log } }: ManagementContext,
  reply: FastifyReply,
  { kind, name, records }: CsvFile,
): FastifyReply {
  const file = Readable.from(records, { objectMode: false });
  // The status is already sent, so the connection is cut: the client sees a failed download.
  file.once('error', (err) =>
    log.error({ err, request_id: reply.request.requestId }, `a ${kind} export failed`),
  );
  return reply
    .header('content-type', 'text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="${kind}-${name}.csv"`)
    .send(file);
}
