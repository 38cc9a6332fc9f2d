/**
 * Limits: how much a server takes and gives at once. Sizes are bytes after decompression, times are milliseconds.
 *
 * A client learns a limit from the 413 that it runs into; none of them loses a line.
 */
import * as Context from "effect/Context"

/**
 * All limits of a server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Bytes of one line, and bytes and lines of a batch. */
  readonly line: number
  readonly batch: number
  readonly lines: number
  /** How many times larger a compressed body may become. */
  readonly ratio: number
  /** Bytes and lines of a page that is read; a line that is larger than a page is a page. */
  readonly page: number
  readonly pageLines: number
  /** Who may follow one session at a time. */
  readonly followers: number
  /** A follower is sent away after this time, more or less a tenth, and after not taking a page for that other time. */
  readonly follow: number
  readonly stalled: number
  /** Appends that wait for the store, and how long one waits for a place among them. */
  readonly queue: number
  readonly patience: number
  /** Requests of a tenant: so many at once, and so many a second in the long run. */
  readonly burst: number
  readonly rate: number
  /** The time in which a request must have arrived. */
  readonly arrival: number
}

/**
 * The limits that hold when a program sets none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const defaults: Limits = {
  line: 8 << 20,
  batch: 16 << 20,
  lines: 2_000,
  ratio: 100,
  page: 16 << 20,
  pageLines: 5_000,
  followers: 64,
  follow: 60_000,
  stalled: 30_000,
  queue: 1_024,
  patience: 2_000,
  burst: 2_000,
  rate: 1_000,
  arrival: 30_000
}

/**
 * The limits of the server that runs here.
 *
 * @category services
 * @since 0.1.0
 */
export const Limits = Context.Reference<Limits>("@reprise/ingress/Limits", { defaultValue: () => defaults })
