// The requests to peers: the bench's Chat request, which asks for the usage at a stream's end so
// that every peer can book it.
import { requestBody } from '../bodies.ts';
import type { Request } from '../workloads.ts';
import type { PeerPlay } from './peer.ts';

export function chatRequest(
  play: PeerPlay,
  { model, path = '/v1/chat/completions' }: { readonly model: string; readonly path?: string },
): Request {
  const stream = play !== 'whole';
  const body = JSON.parse(requestBody('chat', model, stream)) as object;
  return {
    path,
    body: JSON.stringify({ ...body, ...(stream && { stream_options: { include_usage: true } }) }),
  };
}
