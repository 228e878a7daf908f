type Headers = Readonly<Record<string, string>>;

/** Returns the header that has a key; null: there is none, and no header. */
export function keyHeader(name: string, key: string | null): Headers {
  return key === null ? {} : { [name]: key };
}

export function bearer(key: string | null): Headers {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}
