// Node's HTTP. An import of `node:http` itself reads all that it exports, which loads Node's own
// fetch and WebSocket: 12 MB in a process, and 6 in each further thread.
const { request, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');

export { request, ServerResponse, STATUS_CODES };
