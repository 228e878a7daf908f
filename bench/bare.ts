// A process that answers what it is told to, and does nothing else: a plain `node:http` server that reads each request to its end and
// sends the same head and body every time. Its argument is a file of answers by path, as JSON. Prints its port.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** From here on Node sends bytes faster than text, which it joins with the head. */
const longBytes = 16 * 1024;

/** `headers` without those that Node's server writes by itself. */
export type BareAnswer = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

const told = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Record<string, BareAnswer>;
const answers = new Map(Object.entries(told).map(([path, { headers, body }]) => [path, { headers, body: asSentBest(body) }]));

const server = createServer({ keepAliveTimeout: 300_000 }, (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const answer = answers.get(request.url ?? '');
    if (answer && Buffer.concat(pieces).length > 0) response.writeHead(200, answer.headers).end(answer.body);
    else response.writeHead(404).end();
  });
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

function asSentBest(body: string): string | Buffer {
  const bytes = Buffer.from(body);
  return bytes.length < longBytes ? body : bytes;
}
