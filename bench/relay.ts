// A process that only forwards: node:http in, undici out, no parsing, keys or money. It is the
// limit that the gateway is measured against. Takes the upstream's origin as its argument; prints
// its port.
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

const pool = new Pool(process.argv[2]!, {
  pipelining: 1,
  allowH2: false,
  keepAliveTimeout: 300_000,
});

const server = createServer(
  { keepAliveTimeout: 300_000, requestTimeout: 0 },
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => relay(request, Buffer.concat(chunks), response));
  },
);
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

function relay({ url, headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const { authorization, 'content-type': contentType } = headers;
  pool.dispatch(
    { method: 'POST', path: url!, headers: { authorization, 'content-type': contentType }, body },
    {
      onRequestStart: (controller) =>
        void response.once(
          'close',
          () => response.writableFinished || controller.abort(clientGone),
        ),
      onResponseStart: (_controller, status, answerHeaders) => {
        response.writeHead(status, answerHeaders as OutgoingHttpHeaders);
      },
      onResponseData: (controller, chunk) => {
        if (response.write(chunk)) return;
        controller.pause();
        response.once('drain', () => controller.resume());
      },
      onResponseEnd: () => void response.end(),
      onResponseError: () => void response.destroy(),
    },
  );
}

const clientGone = new Error('the client disconnected');
