// A receiver of telemetry that takes everything and reads nothing. Prints its port.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  request.resume();
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
