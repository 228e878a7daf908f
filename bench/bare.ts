// A plain `node:http` server that does nothing else: it reads each request to its end and sends a
// fixed head and body. Its argument is a JSON file of answers by path. Prints its port.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Above this size, Node sends bytes faster than text, which it joins with the head. */
const longBytes = 16 * 1024;

/** `headers`: without those that Node's server adds itself. */
export type BareAnswer = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const configured = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Record<string, BareAnswer>;
const answers = new Map(
  Object.entries(configured).map(([path, { headers, body }]) => [
    path,
    { headers, body: toFastestForm(body) },
  ]),
);

const server = createServer({ keepAliveTimeout: 300_000 }, (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const answer = answers.get(request.url ?? '');
    if (answer && Buffer.concat(pieces).length > 0)
      response.writeHead(200, answer.headers).end(answer.body);
    else response.writeHead(404).end();
  });
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

function toFastestForm(body: string): string | Buffer {
  const bytes = Buffer.from(body);
  return bytes.length < longBytes ? body : bytes;
}
