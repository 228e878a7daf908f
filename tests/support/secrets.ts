// Searches bytes for secrets, in every common encoding.

export type Secret = { readonly name: string; readonly text: string };

/** Returns the name of each secret found, with its encoding. */
export function findSecrets(bytes: Buffer, secrets: readonly Secret[]): string[] {
  return secrets.flatMap(({ name, text }) =>
    formsOf(text).flatMap(([form, needle]) =>
      bytes.includes(needle) ? [`${name} as ${form}`] : [],
    ),
  );
}

function formsOf(text: string): [form: string, needle: Buffer][] {
  const bytes = Buffer.from(text);
  const forms: [string, string | Buffer][] = [
    ['text', text],
    ['JSON', JSON.stringify(text).slice(1, -1)],
    ['JSON twice', JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1)],
    ['URL', encodeURIComponent(text)],
    ['hex', bytes.toString('hex')],
    ['UTF-16', Buffer.from(text, 'utf16le')],
    ...base64Forms(bytes).flatMap((form): [string, string][] => [
      ['base64', form],
      ['base64url', form.replaceAll('+', '-').replaceAll('/', '_')],
    ]),
  ];
  return forms.map(([form, needle]) => [
    form,
    Buffer.isBuffer(needle) ? needle : Buffer.from(needle),
  ]);
}

/**
 * Base64 of these bytes inside a longer text: one form for each offset in a group of three, without
 * the characters that depend on neighbours.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]);
    const characters = Math.floor((whole.length * 8) / 6);
    return whole.toString('base64').slice(Math.ceil((shift * 8) / 6), characters);
  });
}
