// Sends an event by webhook, by e-mail or to Slack, and says what became of it. Addresses of accounts
// are checked like URLs of images; redirects are not followed, and nothing of an answer is kept but its
// status, because problems are shown to the account.
import { abortAfter, type Clock } from '../../lib/clock.ts';
import { withCheckedClient } from '../../lib/checked-client.ts';
import type { OpenConnector } from '../../lib/checked-connector.ts';
import { escapeHtml } from '../../lib/escape-html.ts';
import { type PublicHosts, publicHosts } from '../../lib/public-hosts.ts';
import type { Resolve } from '../../lib/resolve-name.ts';
import { type AnswerHeaders, readRetryAfterSeconds } from '../../lib/retry-after.ts';
import { unlinked } from '../../lib/unlinked.ts';
import { type AlertType, wordsOf } from '../../terms/alert-events.ts';
import type { EndpointTarget, Owner } from './endpoints.ts';
import { signatureOf } from './signature.ts';

export type StoredEvent = {
  readonly id: string;
  readonly type: AlertType;
  /** JSON. */
  readonly data: string;
  readonly createdAtMs: number;
};

export type Sent =
  | { readonly kind: 'sent' }
  /** The receiver wants no more events. */
  | { readonly kind: 'gone'; readonly problem: string }
  /** `waitMs`: as long as the receiver asks to wait at least. */
  | { readonly kind: 'failed'; readonly problem: string; readonly waitMs: number };

type EventMail = {
  readonly subject: string;
  readonly text: string;
  /** The same for every attempt. */
  readonly messageId: string;
};

/** Sends an e-mail to everybody behind an address of an endpoint. Throws when one is not sent. */
export type SendEventMail = (
  to: Pick<EndpointTarget, 'account_id' | 'address'>,
  mail: EventMail,
) => Promise<void>;

export type ChannelOptions = {
  /** Hosts in the operator's network that accounts may name. */
  readonly allowedHosts: readonly string[];
  /** null: no mail server is configured. */
  readonly sendMail: SendEventMail | null;
  /** The dashboard's address. */
  readonly publicUrl: () => string;
  readonly openConnector?: OpenConnector;
  readonly resolve?: Resolve;
  readonly clock: Clock;
};

const timeoutMs = 20_000;
const urlCharactersMax = 2_000;
const ports = ['443', '8443'];

export class Channels {
  readonly #options: ChannelOptions;
  readonly #hosts: PublicHosts;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#hosts = this.#hostsWith(options.allowedHosts);
  }

  get canMail(): boolean {
    return this.#options.sendMail !== null;
  }

  /**
   * Returns null, or a clause that says what is wrong with an address of a webhook or of Slack. Those of
   * operators may lead into their own network.
   */
  addressProblem(text: string, owner: Owner): string | null {
    const url = text.length > urlCharactersMax ? null : URL.parse(text);
    if (!url || !['http:', 'https:'].includes(url.protocol) || !url.hostname)
      return 'is no address of the web. Give one such as https://example.com/hooks.';
    if (url.username || url.password) return 'must not contain a user name or password.';
    if (owner === null || this.#hosts.isAllowed(url)) return null;
    if (url.protocol !== 'https:') return 'must begin with https://.';
    const problem = this.#hosts.problemOf(url);
    if (problem === 'wrong-port') return `must use port ${ports.join(' or ')}.`;
    return problem === null ? null : 'must lead to a public address.';
  }

  /** Never throws. `stop` ends the attempt. */
  async send(target: EndpointTarget, event: StoredEvent, stop: AbortSignal): Promise<Sent> {
    try {
      if (target.kind === 'email') return await this.#mail(target, event);
      return await this.#post(target, event, stop);
    } catch {
      return { kind: 'failed', problem: 'it cannot be reached', waitMs: 0 };
    }
  }

  async #mail(target: EndpointTarget, event: StoredEvent): Promise<Sent> {
    const { sendMail } = this.#options;
    if (!sendMail) return { kind: 'failed', problem: 'there is no mail server', waitMs: 0 };
    const { title, sentence, link } = this.#words(target, event);
    // The id, so that a mail that comes twice is seen to be one.
    const messageId = `${event.id}.${target.id}`;
    try {
      await sendMail(target, { subject: title, text: `${sentence}\n\n${link}\n`, messageId });
      return { kind: 'sent' };
    } catch {
      return { kind: 'failed', problem: 'the mail server did not take it', waitMs: 0 };
    }
  }

  async #post(target: EndpointTarget, event: StoredEvent, stop: AbortSignal): Promise<Sent> {
    const url = new URL(target.address);
    const deadline = abortAfter(this.#options.clock, timeoutMs);
    const signal = AbortSignal.any([deadline, stop]);
    const { openConnector } = this.#options;
    const hosts = target.account_id === null ? this.#hostsWith([url.host]) : this.#hosts;
    try {
      const answer = await withCheckedClient(
        url,
        { hosts, openConnector, signal },
        async (client) => {
          const { statusCode, headers, body } = await client.request({
            method: 'POST',
            path: url.pathname + url.search,
            ...this.#message(target, event),
            signal,
          });
          body.on('error', () => {});
          body.destroy();
          return readAnswer(statusCode, headers, this.#options.clock.nowMs());
        },
      );
      return answer ?? { kind: 'failed', problem: 'it has no public address', waitMs: 0 };
    } catch (error) {
      if (!deadline.aborted) throw error;
      return { kind: 'failed', problem: `no answer within ${timeoutMs / 1_000} s`, waitMs: 0 };
    }
  }

  #message(target: EndpointTarget, { id, type, data, createdAtMs }: StoredEvent) {
    const nowMs = this.#options.clock.nowMs();
    const timestamp = Math.floor(nowMs / 1_000);
    const headers = { 'user-agent': 'tollgate', 'content-type': 'application/json' };
    if (target.kind === 'slack') {
      const { title, sentence, link } = this.#words(target, { type, data });
      // https://docs.slack.dev/messaging/formatting-message-text
      const text = `*${escapeHtml(title)}*\n${escapeHtml(sentence)}\n<${link}>`;
      return { headers: { ...headers, 'webhook-id': id }, body: JSON.stringify({ text }) };
    }
    // `data` is JSON already. The time is the event's in every attempt.
    const time = new Date(createdAtMs).toISOString();
    const body = `{"type":${JSON.stringify(type)},"timestamp":"${time}","data":${data}}`;
    const earlier = (target.earlier ?? []).filter(({ untilMs }) => untilMs > nowMs);
    const signing = [target.secret!, ...earlier.map(({ secret }) => secret)];
    const signatures = signing.map((secret) => signatureOf(secret, { id, timestamp, body }));
    return {
      headers: {
        ...headers,
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures.join(' '),
      },
      body,
    };
  }

  /** Names that people chose become no links. */
  #words(
    { account_id: account }: EndpointTarget,
    { type, data }: Pick<StoredEvent, 'type' | 'data'>,
  ) {
    const said = JSON.parse(data, (field, value: unknown) =>
      /^(?:account_)?name$/.test(field) && typeof value === 'string' ? unlinked(value) : value,
    ) as unknown;
    const { page, ...words } = wordsOf(type, said);
    const url = this.#options.publicUrl();
    if (account !== null) return { ...words, link: `${url}${page}?account=${account}` };
    return { ...words, link: url + (page.startsWith('/operator') ? page : '/operator') };
  }

  #hostsWith(allowedHosts: readonly string[]): PublicHosts {
    const { resolve } = this.#options;
    return publicHosts({ allowedHosts, ports, ...(resolve && { resolve }) });
  }
}

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function readAnswer(status: number, headers: AnswerHeaders, nowMs: number): Sent {
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const problem = `it answers with status ${status}`;
  if (status === 410) return { kind: 'gone', problem };
  return { kind: 'failed', problem, waitMs: (readRetryAfterSeconds(headers, nowMs) ?? 0) * 1_000 };
}
