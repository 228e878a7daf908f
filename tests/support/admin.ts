// A client of the admin API. Every successful answer is checked against the contract.
//
//   const admin = await adminOf(gateway);
//   const { id } = await admin.ok('POST', '/accounts', { body: { name: 'Acme' } });
import assert from 'node:assert/strict';
import { adminCalls } from '../../src/management/contract/contract.ts';
import type { KeyEndpoint } from '../../src/management/contract/doors.ts';
import type { AdminKeyOrder } from '../../src/domain/keys/admin-keys.ts';
import { compileSchema } from '../../src/lib/schema.ts';
import type { TestGateway } from './gateway.ts';
import { send, type Reply } from './http.ts';

type Sent = {
  readonly body?: object;
  readonly query?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

type Row = {
  readonly name: string;
  readonly method: string;
  readonly path: string;
} & KeyEndpoint;

export const adminRows: readonly Row[] = Object.entries(adminCalls).map(([name, endpoint]) => {
  const [method, path] = name.split(' ') as [string, string];
  return { name, method, path, ...endpoint };
});

const checks = adminRows.map(({ method, path, output }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
  check: compileSchema(output),
}));

export class AdminClient {
  readonly id: string;
  readonly key: string;
  readonly #url: () => string;

  constructor(url: () => string, { id, key }: { readonly id: string; readonly key: string }) {
    this.#url = url;
    this.id = id;
    this.key = key;
  }

  async send(
    method: string,
    path: string,
    { body, query = {}, idempotencyKey, headers = {} }: Sent = {},
  ): Promise<Reply> {
    const search = new URLSearchParams(query).toString();
    const url = `${this.#url()}/admin/v1${path}${search === '' ? '' : `?${search}`}`;
    const reply = await send(url, {
      method,
      key: this.key,
      body: method === 'POST' ? (body ?? {}) : body,
      headers: {
        ...headers,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
    });
    if (reply.status === 200) checkAnswer(method, path, reply);
    return reply;
  }

  /** Sends a request that must succeed, and returns its answer. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the shape of JSON is the caller's claim in any case
  async ok<Answer = Record<string, unknown>>(
    method: string,
    path: string,
    sent: Sent = {},
  ): Promise<Answer> {
    const reply = await this.send(method, path, sent);
    assert.equal(reply.status, 200, `${method} ${path}: ${reply.text}`);
    return reply.json<Answer>();
  }

  /** Sends a request that must be refused, and returns `<status> <code> <param>`. */
  async refused(method: string, path: string, sent: Sent = {}): Promise<string> {
    const reply = await this.send(method, path, sent);
    assert.ok(reply.status >= 400, `${method} ${path}: ${reply.text}`);
    const { code, param } = reply.error;
    return `${reply.status} ${code} ${param ?? '-'}`;
  }

  /** Creates an account and returns its id. */
  async makeAccount(name = 'Customer'): Promise<string> {
    return (await this.ok<{ id: string }>('POST', '/accounts', { body: { name } })).id;
  }
}

function checkAnswer(method: string, path: string, reply: Reply): void {
  const row = checks.find((one) => one.method === method && one.pattern.test(path));
  assert.ok(row, `${method} ${path} is not in the contract`);
  assert.deepEqual(row.check(reply.json()), null, `${method} ${path}: ${reply.text}`);
}

/** Makes an admin key. Default: with all scopes. */
export async function adminOf(
  gateway: TestGateway,
  order: Partial<AdminKeyOrder> = {},
): Promise<AdminClient> {
  return new AdminClient(() => gateway.url, await gateway.makeAdminKey(order));
}
