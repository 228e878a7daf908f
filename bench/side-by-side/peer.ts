// The port that every peer fills: how to install it, start it, ask it and read its books.
import type { Request } from '../workloads.ts';

/** The plays that peers are measured with (see workloads.ts). */
export const peerPlays = ['whole', 'paced'] as const;
export type PeerPlay = (typeof peerPlays)[number];

/** What is switched on. The report prints it, because it is most of the difference. */
type Features = {
  readonly auth: string;
  readonly billing: string;
  readonly log: string;
};

type Site = {
  readonly upstreamPort: number;
  /** The key that the peer sends to the upstream, which counts requests by it. */
  readonly upstreamKey: string;
  /** An empty folder for the peer's data. Every user of the machine can read it. */
  readonly dataDir: string;
};

export type Running = {
  readonly port: number;
  /** The process whose tree is measured. */
  readonly pid: number;
  readonly stop: () => Promise<void>;
  /** Kills the whole tree with SIGKILL. */
  readonly kill: () => Promise<void>;
};

export type Book = {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Money taken, divided by the price of one request; null without money. */
  readonly chargedRequests: number | null;
  /** The operator's loss for requests that were not charged, in the same unit; null if not booked. */
  readonly lostRequests: number | null;
};

export type OpenPeer = {
  readonly start: () => Promise<Running>;
  readonly requestFor: (play: PeerPlay) => Request;
  /** The client's key. */
  readonly key: string;
  /** The database's main process, if it has one of its own. Its CPU is reported apart. */
  readonly databasePid?: number;
  /** Null if the peer keeps no books. */
  readonly readBook: (() => Book) | null;
  /** How long the book may rest after a crash before its last entry; the default is short. */
  readonly crashQuietMs?: number;
  /** Removes what is not in the data folder. Called after the stop. */
  readonly close?: () => void;
};

export type Peer = {
  readonly name: string;
  readonly features: Features;
  /** What it would send home, and the setting that stops it. */
  readonly telemetry: string;
  /** Returns the version. Throws with the reason if it cannot be had. */
  readonly install: () => string;
  /** Runs without a network. `version` is what `install` returned. */
  readonly open: (site: Site, version: string) => Promise<OpenPeer>;
};
