// The scopes of API keys: what a key may do. A key without a list has all of them.

export const keyScopes = ['run', 'images', 'usage'] as const;

/** `run`: models and searches. `images`: image generation. `usage`: the balance and past charges. */
export type KeyScope = (typeof keyScopes)[number];
