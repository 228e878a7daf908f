// Sends e-mails through the configured server. The mail package is loaded for the first e-mail.
import type { Config } from '../../config/schema.ts';
import type { Logger } from '../../lib/log.ts';

export type Mail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** `<…@…>`; default: a new one. */
  readonly messageId?: string;
};

export type Mailer = {
  /** Throws when the mail server is unreachable or refuses the e-mail. */
  readonly send: (mail: Mail) => Promise<void>;
  /** Does not wait, so that the response time does not reveal whether the address has a user. */
  readonly sendLater: (mail: Mail) => void;
};

const timeoutMs = 15_000;

type MailServer = NonNullable<Config['smtp']>;

export function createMailer(server: MailServer, log: Logger): Mailer {
  const send = (mail: Mail) => sendMail(server, mail);
  return {
    send,
    sendLater: (mail) => {
      send(mail).catch((err: unknown) => log.error({ err }, 'an e-mail could not be sent'));
    },
  };
}

/** Throws when the mail server is unreachable or refuses the e-mail. */
export async function sendMail({ url, from }: MailServer, mail: Mail): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url,
    requireTLS: mustEncrypt(url),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({ from, ...mail });
  } catch (error) {
    throw withoutLink(error as ServerError, mail);
  }
}

type ServerError = Error & { readonly responseCode?: number };

/** A content filter may repeat the mail, whose link lets in whoever reads the log. */
function withoutLink(error: ServerError, { text }: Mail): Error {
  const [, token] = /token=([\w-]+)/.exec(text) ?? [];
  // Long lines are broken, in a mail with a `=` first.
  const isRepeated = token !== undefined && error.message.replaceAll(/=?\s/g, '').includes(token);
  return isRepeated
    ? new Error(`the mail server refuses the e-mail (${error.responseCode}), and repeats its link`)
    : error;
}

/** Requires TLS for a password, except on this machine. */
function mustEncrypt(address: string): boolean {
  const { protocol, username, hostname } = new URL(address);
  return (
    protocol === 'smtp:' && username !== '' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
  );
}
