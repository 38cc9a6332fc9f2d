/**
 * Entry: the union of all that a log may hold, keyed on the wire's own `type`.
 *
 *   a line ──▶ object with a known `type`      that kind          (33 kinds, FORMAT §3)
 *              object with another `type`      Unknown            kept whole
 *              anything else                   Malformed          kept byte for byte
 *
 * 1. The object read is the entry: validation never rebuilds it, so unknown keys and key order survive.
 * 2. An object of a known type that does not fit its schema stays an entry of its type. Its typed view holds the parts
 *    that fit, at every depth; `original` leads back to the object read, and what did not fit is named by its path
 *    (`message.role`, `snipMetadata.removedUuids[]`, `snapshot.trackedFileBackups.*.version`).
 * 3. An old shape reads as today's (Upcast.ts), and leads back to the object read just so.
 * 4. A view lacks nothing that its type promises: an absent `uuid` reads as `""` (an id that names nothing), an absent
 *    or unreadable `message` as one with no content. Every other key is optional.
 */
import * as Schema from "effect/Schema"
import * as Fit from "./internal/fit.ts"
import { isObject } from "./internal/wire.ts"
import { schemas as messages } from "./Message.ts"
import { schemas as metadata } from "./Metadata.ts"
import { schemas as progress } from "./Progress.ts"
import { schemas as snapshots } from "./Snapshot.ts"
import * as Upcast from "./Upcast.ts"

const schemas = { ...messages, ...metadata, ...snapshots, ...progress } as const

type Schemas = typeof schemas

/**
 * The `type` of an entry that this version knows.
 *
 * @category models
 * @since 0.1.0
 */
export type KnownKind = keyof Schemas

/**
 * The match key of an entry: its `type` where that is known, else `unknown` or `malformed`.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = KnownKind | "unknown" | "malformed"

/**
 * An object with a `type` that this version does not know, kept whole.
 *
 * @category models
 * @since 0.1.0
 */
export interface Unknown {
  readonly type: string
  readonly [key: string]: unknown
}

/**
 * Bytes that are no entry, copied as they are; `reason` says what they are instead.
 *
 * @category models
 * @since 0.1.0
 */
export class Malformed {
  readonly type: undefined = undefined
  readonly bytes: Uint8Array
  readonly reason: "torn" | "not-json" | "not-object" | "no-type" | "blank"

  constructor(bytes: Uint8Array, reason: Malformed["reason"]) {
    this.bytes = new Uint8Array(bytes)
    this.reason = reason
  }
}

/**
 * An entry of a known type.
 *
 * @category models
 * @since 0.1.0
 */
export type Known = { readonly [K in KnownKind]: Schemas[K]["Type"] }[KnownKind]

/**
 * Any entry.
 *
 * @category models
 * @since 0.1.0
 */
export type Entry = Known | Unknown | Malformed

/**
 * The entry of kind `K`.
 *
 * @category models
 * @since 0.1.0
 */
export type OfKind<K extends Kind> = K extends KnownKind
  ? Schemas[K]["Type"]
  : K extends "unknown"
    ? Unknown
    : Malformed

/**
 * Every known kind, in the order of FORMAT §3.
 *
 * @category models
 * @since 0.1.0
 */
export const kinds: ReadonlyArray<KnownKind> = Object.keys(schemas) as Array<KnownKind>

const known: ReadonlySet<string> = new Set(kinds)

const UnknownSchema = Schema.declare(
  (value: unknown): value is Unknown => isObject(value) && typeof value.type === "string" && !known.has(value.type)
)

const MalformedSchema = Schema.declare((value: unknown): value is Malformed => value instanceof Malformed)

/**
 * The schema of any entry; its members check without rebuilding.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Entry: Schema.Schema<Entry> = Schema.Union([
  ...kinds.map((kind) => schemas[kind] as Schema.Schema<Known>),
  UnknownSchema,
  MalformedSchema
])

/**
 * The match key of an entry; looks at the entry, changes nothing.
 *
 * @category guards
 * @since 0.1.0
 */
export const kindOf = (entry: Entry): Kind =>
  entry instanceof Malformed ? "malformed" : known.has(entry.type) ? (entry.type as KnownKind) : "unknown"

/**
 * Whether the entry is of the kind.
 *
 * @category guards
 * @since 0.1.0
 */
export const is =
  <K extends Kind>(kind: K) =>
  (entry: Entry): entry is OfKind<K> =>
    kindOf(entry) === kind

/**
 * Branches on the kind of an entry; kinds without a case go to `orElse`.
 *
 * @category combinators
 * @since 0.1.0
 * @example
 * ```ts
 * Entry.match(entry, { user: (e) => e.uuid, tag: (e) => e.tag }, () => undefined)
 * ```
 */
export const match = <A, B = undefined>(
  entry: Entry,
  cases: { readonly [K in Kind]?: (entry: OfKind<K>) => A },
  orElse?: (entry: Entry) => B
): A | B => {
  const run = (cases as { readonly [kind: string]: ((entry: Entry) => A) | undefined })[kindOf(entry)]
  return run !== undefined ? run(entry) : (orElse?.(entry) as B)
}

/**
 * A message: what enters the parent chain (user, assistant, attachment, system).
 *
 * @category models
 * @since 0.1.0
 */
export type Message = OfKind<"user" | "assistant" | "attachment" | "system">

const messageKinds: ReadonlySet<string | undefined> = new Set(Object.keys(messages))

/**
 * Whether the entry is one of the four kinds that enter the parent chain.
 *
 * @category guards
 * @since 0.1.0
 */
export const isMessage = (entry: Entry): entry is Message => messageKinds.has(entry.type)

/**
 * What became of an object with a `type`: the entry, and the keys that did not fit it (empty: it is the object itself).
 *
 * @category models
 * @since 0.1.0
 */
export interface Read {
  readonly entry: Known | Unknown
  readonly illFormed: ReadonlyArray<string>
}

const none: ReadonlyArray<string> = []

/**
 * Reads an object with a string `type` as an entry; total.
 *
 * @category decoding
 * @since 0.1.0
 */
export const read = (value: Unknown): Read => {
  const check = checks.get(value.type)
  if (check === undefined) return { entry: value, illFormed: none }
  const today = Upcast.read(value)
  if (today === value && check(value)) return { entry: value as Known, illFormed: none }
  return readOld(today, value)
}

/** Off the usual path: an old shape, or an object that does not fit. */
const readOld = (today: Unknown, value: Unknown): Read => {
  const lost: Array<string> = []
  Upcast.read(value, lost)
  const { illFormed, view } = Fit.fit(today, schemas[value.type as KnownKind].fields)
  originals.set(view, value)
  return { entry: view as Known, illFormed: lost.length === 0 ? illFormed : [...lost, ...illFormed] }
}

const checks: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  kinds.map((kind) => [kind, Schema.is(schemas[kind] as Schema.Schema<Known>)])
)

/** Views lead back to the object that they were made from; a copy of a view is an entry of its own and does not. */
const originals = new WeakMap<object, Unknown>()

/**
 * The object that was read, where the entry is a view of the parts that fit; else the entry.
 *
 * @category decoding
 * @since 0.1.0
 */
export const original = (entry: Known | Unknown): Known | Unknown => originals.get(entry) ?? entry
