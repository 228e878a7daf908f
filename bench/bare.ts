// A plain `node:http` server that does nothing else: it reads each request to its end and sends a
// fixed head and body. Its argument is a file of answers (`fixed-answers.ts`). Prints its port.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFixedAnswers } from './fixed-answers.ts';

const answers = readFixedAnswers(process.argv[2]!);
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
