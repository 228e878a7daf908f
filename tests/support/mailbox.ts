// A real mail server for tests that stores the mail it receives.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { until } from './until.ts';

export type ReceivedMail = { readonly from: string; readonly to: string; readonly text: string };

export type Mailbox = {
  /** For `smtp.url`. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Waits for the next mail to an address and removes it. */
  readonly take: (to: string) => Promise<ReceivedMail>;
  /** Refuses mail to an address until `accept`. */
  readonly refuse: (to: string) => void;
  /** Refuses mail to an address with the mail's own words, as a content filter may. */
  readonly repeat: (to: string) => void;
  readonly accept: (to: string) => void;
  /** The number of mails to an address that were refused. */
  readonly refusals: (to: string) => number;
  readonly close: () => Promise<void>;
};

/** Accepts mail from a client that signs in as `me` with `secret`. */
export async function startMailbox(): Promise<Mailbox> {
  const mails: ReceivedMail[] = [];
  const refused: string[] = [];
  const refusing = new Set<string>();
  const repeating = new Set<string>();
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      if (username === 'me' && password === 'se@cret') done(null, { user: username });
      else done(new Error('wrong user or password'));
    },
    onRcptTo: ({ address }, _session, done) => {
      if (!refusing.has(address)) return done();
      refused.push(address);
      done(new Error('the mailbox is full'));
    },
    onData: (stream, { envelope }, done) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const text = decode(Buffer.concat(pieces).toString('utf8'));
        if (envelope.rcptTo.some(({ address }) => repeating.has(address)))
          return done(new Error(`blocked: ${text.replaceAll(/\s+/g, ' ')}`));
        for (const { address } of envelope.rcptTo) mails.push({ from, to: address, text });
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://me:se%40cret@127.0.0.1:${port}`,
    mails,
    take: async (to) => {
      const mail = await until(() => mails.find((each) => each.to === to));
      mails.splice(mails.indexOf(mail), 1);
      return mail;
    },
    refuse: (to) => void refusing.add(to),
    repeat: (to) => void repeating.add(to),
    accept: (to) => void refusing.delete(to),
    refusals: (to) => refused.filter((each) => each === to).length,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Decodes the only transfer encoding used for long lines. */
function decode(text: string): string {
  return text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_whole, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
}
