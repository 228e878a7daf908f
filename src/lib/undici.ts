// The parts of undici that the gateway calls, from their own files. undici's index also loads fetch,
// WebSocket, caches and mocks, which each thread would keep in memory.
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';

// undici's index does the same.
Object.assign(Dispatcher.prototype, { request });

export { buildConnector, Client, Pool };
