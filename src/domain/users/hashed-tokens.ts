// Wraps the sign-in library's database adapter: a session's token is stored as a digest, so that a
// leaked database or backup gives nobody a session. The library has no setting for this and finds
// sessions by their token, so the wrapper replaces the token in every call.
import type { DBAdapter, DBTransactionAdapter, Where } from 'better-auth';
import { digestOf } from './one-time-link.ts';

const sessionModel = 'session';

export function withHashedTokens(adapter: DBAdapter): DBAdapter {
  return {
    ...adapter,
    ...hashing(adapter),
    transaction: (callback) =>
      adapter.transaction((inner) => callback({ ...inner, ...hashing(inner) })),
  };
}

/**
 * The methods that a token can pass through. Returned rows carry the plain token of the call,
 * because the library puts it in the cookie.
 */
function hashing(inner: DBTransactionAdapter): DBTransactionAdapter {
  return {
    ...inner,
    create: async ({ data, ...call }) => {
      const token = call.model === sessionModel && 'token' in data ? String(data.token) : null;
      if (token === null) return inner.create({ ...call, data });
      return restored(
        await inner.create({ ...call, data: { ...data, token: digestOf(token) } }),
        token,
      );
    },
    findOne: async (call) => restored(await inner.findOne(hashed(call)), tokenOf(call)),
    findMany: (call) => inner.findMany(hashed(call)),
    count: (call) => inner.count(hashed(call)),
    update: async (call) => restored(await inner.update(hashed(call)), tokenOf(call)),
    updateMany: (call) => inner.updateMany(hashed(call)),
    delete: (call) => inner.delete(hashed(call)),
    deleteMany: (call) => inner.deleteMany(hashed(call)),
    consumeOne: async (call) => restored(await inner.consumeOne(hashed(call)), tokenOf(call)),
    incrementOne: async (call) => restored(await inner.incrementOne(hashed(call)), tokenOf(call)),
  };
}

type Call = { readonly model: string; readonly where?: Where[] | undefined };

function isToken({ model }: Call, { field }: Where): boolean {
  return model === sessionModel && field === 'token';
}

function hashed<C extends Call>(call: C): C {
  if (!call.where?.some((condition) => isToken(call, condition))) return call;
  const digest = (value: Where['value']) =>
    Array.isArray(value) ? value.map((one) => digestOf(String(one))) : digestOf(String(value));
  const where = call.where.map((condition) =>
    isToken(call, condition) ? { ...condition, value: digest(condition.value) } : condition,
  );
  return { ...call, where };
}

/** The token that a call asks for; null when there is none or several. */
function tokenOf(call: Call): string | null {
  const value = call.where?.find((condition) => isToken(call, condition))?.value;
  return typeof value === 'string' ? value : null;
}

function restored<Row>(row: Row, token: string | null): Row {
  return row === null || token === null ? row : { ...row, token };
}
