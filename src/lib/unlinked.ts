// Names that people chose, in texts that the gateway sends to others.
import { cleanName } from './clean-name.ts';

/**
 * Returns a name that somebody chose so that no mail program makes a link of it: it would be one to
 * anywhere in an e-mail of the operator. Programs link `evil.example/login`, `mailto:`, `user@host`
 * and `\\host`. Each has one of these signs right before its next letter, so a space follows them.
 *
 * `Ann https://evil.example/x` becomes `Ann https: //evil. example/x`.
 */
export function unlinked(name: string): string {
  const signs = Array.from(cleanName(name));
  const shown = signs.length <= signsMax ? signs : [...signs.slice(0, signsMax), '...'];
  return cleanName(shown.map((sign) => (isLinkSign(sign) ? `${sign} ` : sign)).join(''));
}

/** Browsers read wide and small forms of these signs, and the ideographic full stop, as the signs. */
function isLinkSign(sign: string): boolean {
  return /[.\u3002:@\\]/.test(sign.normalize('NFKC'));
}

const signsMax = 60;
