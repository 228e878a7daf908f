// HTTP for image providers, over the same connection pools as all calls.
import type { ImageHttp } from '../../providers/image-provider.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { Upstreams } from '../calling/upstreams.ts';

export function imageHttpOver(upstreams: Upstreams, trace: TraceContext | null): ImageHttp {
  return {
    send: async (call) => {
      const reply = await upstreams.send({
        ...call,
        trace,
        timeouts: call.provider.timeouts,
        stream: false,
      });
      if (reply.kind === 'failure' || call.answer === 'json') return reply;
      return { kind: 'bytes', bytes: reply.body as Buffer };
    },
  };
}
