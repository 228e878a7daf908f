type Headers = Readonly<Record<string, string>>;

/** Returns the header with the key, or no header when the key is null. */
export function keyHeader(name: string, key: string | null): Headers {
  return key === null ? {} : { [name]: key };
}

export function bearer(key: string | null): Headers {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}
