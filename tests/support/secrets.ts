// Looks for secrets in bytes, in every form in which they are usually written down.

export type Secret = { readonly name: string; readonly text: string };

/** Names each secret that stands in the bytes, with the form it stands in. */
export function findSecrets(bytes: Buffer, secrets: readonly Secret[]): string[] {
  return secrets.flatMap(({ name, text }) =>
    formsOf(text).flatMap(([form, needle]) => (bytes.includes(needle) ? [`${name} as ${form}`] : [])),
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
  return forms.map(([form, needle]) => [form, Buffer.isBuffer(needle) ? needle : Buffer.from(needle)]);
}

/** Base64 of a longer text that holds these bytes somewhere: one for each place in a group of three, without what its neighbours decide. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]);
    const characters = Math.floor((whole.length * 8) / 6);
    return whole.toString('base64').slice(Math.ceil((shift * 8) / 6), characters);
  });
}
