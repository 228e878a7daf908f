// HTTP for the providers of images, over the same way out as everything else.
import type { ImageHttp } from '../providers/image-provider.ts';
import type { Upstreams } from './upstream.ts';

export function imageHttpOver(upstreams: Upstreams): ImageHttp {
  return {
    send: async (call) => {
      const reply = await upstreams.send({ ...call, timeouts: call.provider.timeouts, stream: false });
      if (reply.kind === 'stream') throw new Error('a stream came although none was asked for');
      if (reply.kind === 'failure' || call.answer === 'json') return reply;
      return { kind: 'bytes', bytes: reply.body as Buffer };
    },
  };
}
