// Ways to break what agents use, each in one place: signing in, WebSockets, the gateway's searches,
// service tiers, compactions and the report on caches. Tests of `npm test` must fail for each.
import { testMutations } from '../../support/mutations.ts';

const integration = (file: string, pattern: string) => [
  `tests/integration/${file}.test.ts # ${pattern}`,
];

testMutations([], {
  'each of several polls at once gets a key': {
    file: 'management/sign-in/device-logins.ts',
    guard: `if (!(await useDeviceLogin(write, deviceCode, clock.nowMs()))) return { kind: 'gone' };`,
    without: 'await useDeviceLogin(write, deviceCode, clock.nowMs());',
    watchers: integration('device-login', 'a code works once'),
  },
  'a user who has lost the right still gives a key': {
    file: 'management/sign-in/device-logins.ts',
    guard: `if (!role || !isAtLeast(role, 'admin')) return { kind: 'denied' };`,
    without: `if (!role) return { kind: 'denied' };`,
    watchers: integration('device-login', 'only who may make keys can confirm'),
  },
  'whoever reads a shared key can revoke it': {
    file: 'management/sign-in/device-logins.ts',
    guard: 'if (!isOfProgram(key)) return;',
    without: `if (key === '' && !isOfProgram(key)) return;`,
    watchers: integration('device-login', 'a program that signs out'),
  },
  'a WebSocket goes on from any response': {
    file: 'server/websocket/frames.ts',
    guard: 'if (last && last.id === id) return last;',
    without: 'if (last && last.id !== null) return last;',
    watchers: integration('websocket', 'the next frame goes on from the last response'),
  },
  'refusals of frames wait without a bound': {
    file: 'server/websocket/connection.ts',
    guard:
      'if (this.#its.socket.bufferedAmount > unreadBytesMax) return this.#its.socket.terminate();',
    without: 'if (unreadBytesMax === 0) return this.#its.socket.terminate();',
    watchers: integration('websocket-limits', 'a client that sends and reads nothing'),
  },
  'the frame of a client that has left runs': {
    file: 'server/websocket/connection.ts',
    guard: 'if (!this.#isOpen) return;\n      frame = ',
    without: 'frame = ',
    watchers: integration('websocket-limits', 'a frame whose client has left'),
  },
  'a model that goes on searching reads beyond the hold': {
    file: 'gateway/answering/hosted-tools.ts',
    guard: 'if (this.#inputTokens > this.#heldInputTokens) return false;',
    without: 'if (this.#heldInputTokens < 0) return false;',
    watchers: integration('hosted-search', 'the hold covers any number of searches'),
  },
  'an image that a model asked for is free': {
    file: 'gateway/answering/hosted-tools.ts',
    guard: 'if (price) call.drawn.add(price);',
    without: 'if (price && call.number < 0) call.drawn.add(price);',
    watchers: integration('hosted-images', 'the provider’s count of an image is charged'),
  },
  'a dearer service tier than was asked for is charged': {
    file: 'domain/catalog/price.ts',
    guard: 'if (allowed.includes(used)) return used;',
    without: 'if (allowed.length > 0) return used;',
    watchers: integration('service-tiers', 'standard asked, priority answered by chat'),
  },
  'a compaction without a summary is a success': {
    file: 'formats/responses/write-answer.ts',
    guard: `if (status === 'incomplete') return [];`,
    without: `if (status !== null) return [];`,
    watchers: integration('compaction', 'a conversation without a summary'),
  },
  'the report on caches counts the hour before its first day': {
    file: 'domain/ledger/reports/cache-report.ts',
    guard: 'if (charge.createdAtMs < fromMs || !isAsked(charge, query)) continue;',
    without: 'if (fromMs < 0 || !isAsked(charge, query)) continue;',
    watchers: integration('cache-truth', 'the hour before a report'),
  },
});
