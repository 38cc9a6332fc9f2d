/**
 * Finding: what a reader noticed about a log. One closed union, keyed on `kind` (RECOVERY §15).
 *
 * 1. A finding says what was found and where; it never changes what is recovered.
 * 2. Severity belongs to the kind: `loss`, something could not be read or placed; `repair`, something was placed by a
 *    rule; `note`, worth knowing. Only a `gap` is either loss or note and says so itself.
 * 3. `unplaced` is true only where a message of the log is accounted for by this finding alone (RECOVERY §9).
 */

/**
 * How much a finding matters.
 *
 * @category models
 * @since 0.1.0
 */
export type Severity = "loss" | "repair" | "note"

/**
 * Where in a log: `line` is 1-based and counts every LF; bytes are offsets into the log, the end exclusive, without
 * the LF.
 *
 * @category models
 * @since 0.1.0
 */
export interface Position {
  readonly line: number
  readonly byteStart: number
  readonly byteEnd: number
}

/** A link that did not lead to a message, and the message that its owner hangs on instead (null: it is a root). */
interface Bridged {
  readonly uuid: string
  readonly parent: string
  readonly bridgedTo: string | null
}

/**
 * What each kind of finding carries beside its position.
 *
 * @category models
 * @since 0.1.0
 */
export interface Details {
  /** A line, or the first part of one, that ends in the middle of a value. */
  readonly "torn-line": { readonly bytes: number }
  /** Bytes that are no entry: no JSON, no object, or an object without a string `type`. */
  readonly "malformed-line": { readonly bytes: number }
  /** Lines of white space only; `count` lines from `line` on. */
  readonly "blank-line": { readonly count: number }
  /** A run of `count` NUL bytes. */
  readonly "nul-bytes": { readonly count: number }
  /** A byte order mark at the start of a line. */
  readonly bom: {}
  /** Lines that end in CR LF; `count` lines from `line` on. */
  readonly "carriage-return": { readonly count: number }
  /** Bytes that are no UTF-8, read as U+FFFD. */
  readonly "invalid-utf8": {}
  /** A line that held more than one piece; `count` entries were read from it. */
  readonly "glued-lines": { readonly count: number }
  /** A message hangs on another one because what stood between was damaged. */
  readonly gap: { readonly uuid: string; readonly severity: "loss" | "note" }
  /** An entry of a known type of which `keys` do not fit; the other parts stand. */
  readonly "ill-formed": { readonly type: string; readonly keys: ReadonlyArray<string>; readonly uuid?: string }
  /** `count` entries of a type that this version does not know; kept whole. */
  readonly "unknown-type": { readonly type: string; readonly count: number }
  /** An id that stands on `lines` more than once with different content; the first one stands. */
  readonly "repeated-id": { readonly uuid: string; readonly lines: readonly [number, number] }
  readonly "missing-parent": Bridged
  readonly "self-parent": Bridged
  readonly cycle: Bridged
  readonly "sidechain-parent": Bridged
  /** Kept messages (`uuids`) of boundary `uuid` that are in no line. */
  readonly "preserved-missing": { readonly uuid: string; readonly uuids: ReadonlyArray<string> }
  /** A kept segment whose head is not reachable from its tail: nothing of it is kept. */
  readonly "preserved-broken": { readonly uuid: string }
  /** The anchor of a boundary's kept messages is in no line. */
  readonly "anchor-missing": { readonly uuid: string; readonly anchor: string; readonly bridgedTo: string | null }
  /** A boundary with kept messages that the conversation does not pass. */
  readonly "boundary-off-chain": { readonly uuid: string }
  /** A boundary after which nothing was written. */
  readonly "boundary-unfinished": { readonly uuid: string }
  /** Ids that boundary `uuid` removes and that are in no line. */
  readonly "snip-unknown-id": { readonly uuid: string; readonly uuids: ReadonlyArray<string> }
  /** Message `uuid` holds the half of a call pair whose other half was snipped. */
  readonly "snip-half-pair": { readonly uuid: string; readonly toolUseId: string }
  /** Entries (`uuids`) of the tool round of `messageId` that no single walk along parents reaches. */
  readonly "parallel-recovered": { readonly messageId: string; readonly uuids: ReadonlyArray<string> }
  /** A tool result written after the turns that follow its reply. */
  readonly "late-result": { readonly uuid: string }
  /** A `last-prompt` names leaf `uuid`, but newer messages stand on another branch. */
  readonly "last-prompt-outranked": { readonly uuid: string }
  /** A `last-prompt` names leaf `uuid`, which is no message of the lane. */
  readonly "last-prompt-unknown": { readonly uuid: string }
  readonly "orphan-result": { readonly uuid: string; readonly toolUseId: string }
  readonly "duplicate-result": { readonly uuid: string; readonly toolUseId: string }
  readonly "unresolved-call": { readonly uuid: string; readonly toolUseId: string }
  /** A prompt that was queued and never sent. */
  readonly "pending-prompt": { readonly text: string }
  /** Checkpoint `uuid` counted `expected` entries before it, the conversation has `found` (null: it is not on it). */
  readonly drift: { readonly uuid: string; readonly expected: number; readonly found: number | null }
  /** A metadata entry whose value does not fit. */
  readonly "bad-metadata": { readonly type: string }
  /** `count` entries that another session wrote. */
  readonly "foreign-session": { readonly sessionId: string; readonly count: number }
  /** Neither the name of the log nor its leaf tells a session; it goes on as `sessionId`. */
  readonly "session-unnamed": { readonly sessionId: string }
  /** A worktree, agent, plan or backup that the log names and the host no longer has. */
  readonly "host-missing": { readonly what: string; readonly name: string }
}

/**
 * The closed list of kinds.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = keyof Details

interface Common {
  readonly severity: Severity
  readonly line?: number
  readonly byteStart?: number
  readonly byteEnd?: number
  readonly unplaced?: true
}

/**
 * One finding of kind `K`.
 *
 * @category models
 * @since 0.1.0
 */
export type Of<K extends Kind> = Common & Details[K] & { readonly kind: K }

/**
 * Any finding.
 *
 * @category models
 * @since 0.1.0
 */
export type Finding = { readonly [K in Kind]: Of<K> }[Kind]

/**
 * The severity of each kind, in the order of RECOVERY §15; it is also the closed list at run time.
 *
 * @category models
 * @since 0.1.0
 */
export const severities: { readonly [K in Kind]: Severity } = {
  "torn-line": "loss",
  "malformed-line": "loss",
  "blank-line": "note",
  "nul-bytes": "loss",
  bom: "note",
  "carriage-return": "note",
  "invalid-utf8": "loss",
  "glued-lines": "repair",
  gap: "note",
  "ill-formed": "note",
  "unknown-type": "note",
  "repeated-id": "repair",
  "missing-parent": "repair",
  "self-parent": "repair",
  cycle: "repair",
  "sidechain-parent": "repair",
  "preserved-missing": "repair",
  "preserved-broken": "repair",
  "anchor-missing": "repair",
  "boundary-off-chain": "repair",
  "boundary-unfinished": "repair",
  "snip-unknown-id": "note",
  "snip-half-pair": "note",
  "parallel-recovered": "repair",
  "late-result": "repair",
  "last-prompt-outranked": "note",
  "last-prompt-unknown": "note",
  "orphan-result": "note",
  "duplicate-result": "note",
  "unresolved-call": "note",
  "pending-prompt": "note",
  drift: "note",
  "bad-metadata": "note",
  "foreign-session": "note",
  "session-unnamed": "note",
  "host-missing": "note"
}

/**
 * A finding with the severity of its kind, at a position where it has one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <K extends Kind>(kind: K, details: Details[K], at?: Position): Finding =>
  ({
    kind,
    severity: severities[kind],
    ...details,
    ...(at === undefined ? undefined : { line: at.line, byteStart: at.byteStart, byteEnd: at.byteEnd })
  }) as unknown as Finding

/** Kinds that come line after line in a damaged file and are reported once for a run of lines. */
const runs: ReadonlySet<Kind> = new Set<Kind>(["blank-line", "carriage-return"])

/**
 * Appends a finding to a list that is being built; damage that repeats line after line grows the last finding instead,
 * so that a file of a million CR LF lines has one finding.
 *
 * @category combinators
 * @since 0.1.0
 */
export const push = (findings: Array<Finding>, finding: Finding): void => {
  const last = findings.at(-1)
  if (last !== undefined && isRun(last) && isRun(finding) && last.kind === finding.kind && follows(last, finding)) {
    const count = last.count + finding.count
    findings[findings.length - 1] = { ...last, count, ...end(finding) }
  } else findings.push(finding)
}

type Run = Of<"blank-line" | "carriage-return">

const isRun = (finding: Finding): finding is Run => runs.has(finding.kind)

const follows = (last: Run, finding: Run): boolean =>
  last.line === undefined ? finding.line === undefined : last.line + last.count === finding.line

const end = (finding: Finding) => (finding.byteEnd === undefined ? undefined : { byteEnd: finding.byteEnd })

const hangs = (to: string | null): string => (to === null ? "it is a root" : `it hangs on ${to}`)
const list = (ids: ReadonlyArray<string>): string => ids.join(", ")
const times = (count: number, one: string): string => (count === 1 ? `1 ${one}` : `${count} ${one}s`)

const explanations: { readonly [K in Kind]: (finding: Of<K>) => string } = {
  "torn-line": (f) => `${f.bytes} bytes end in the middle of an entry, as after a kill during a write.`,
  "malformed-line": (f) => `${f.bytes} bytes are no entry and are kept as they are.`,
  "blank-line": (f) => `${times(f.count, "blank line")}.`,
  "nul-bytes": (f) => `${times(f.count, "NUL byte")}, as after a crash of the machine.`,
  bom: () => "A byte order mark stands before the first entry.",
  "carriage-return": (f) => `${times(f.count, "line")} with CR LF at the end.`,
  "invalid-utf8": () => "Bytes that are no UTF-8 are read as U+FFFD.",
  "glued-lines": (f) => `${times(f.count, "entry").replace("entrys", "entries")} read from one line.`,
  gap: (f) => `A damaged line stood before ${f.uuid}.`,
  "ill-formed": (f) => `An entry of type ${f.type} does not fit at ${list(f.keys)}; its other parts stand.`,
  "unknown-type": (f) => `${f.count} of type ${f.type}, which is not known here; kept whole.`,
  "repeated-id": (f) =>
    `${f.uuid} stands on lines ${f.lines[0]} and ${f.lines[1]} with different content; the first stands.`,
  "missing-parent": (f) => `The parent ${f.parent} of ${f.uuid} is in no line; ${hangs(f.bridgedTo)}.`,
  "self-parent": (f) => `${f.uuid} is its own parent; ${hangs(f.bridgedTo)}.`,
  cycle: (f) => `The parents of ${f.uuid} lead back to itself; ${hangs(f.bridgedTo)}.`,
  "sidechain-parent": (f) => `The parent ${f.parent} of ${f.uuid} belongs to a sidechain; ${hangs(f.bridgedTo)}.`,
  "preserved-missing": (f) => `Boundary ${f.uuid} keeps messages that are in no line: ${list(f.uuids)}.`,
  "preserved-broken": (f) =>
    `The segment that boundary ${f.uuid} keeps has no path from tail to head; nothing is kept.`,
  "anchor-missing": (f) =>
    `The anchor ${f.anchor} of boundary ${f.uuid} is in no line; the kept messages hang on ${f.bridgedTo ?? "nothing"}.`,
  "boundary-off-chain": (f) =>
    `The conversation does not pass boundary ${f.uuid}; its kept messages stay where they were.`,
  "boundary-unfinished": (f) => `Nothing was written after boundary ${f.uuid}; the conversation before it stands.`,
  "snip-unknown-id": (f) => `Snip ${f.uuid} removes ids that are in no line: ${list(f.uuids)}.`,
  "snip-half-pair": (f) => `${f.uuid} holds one half of call ${f.toolUseId}, the other half was snipped.`,
  "parallel-recovered": (f) =>
    `${times(f.uuids.length, "entry").replace("entrys", "entries")} of the parallel calls of reply ${f.messageId} put back.`,
  "late-result": (f) => `${f.uuid} is a tool result that was written after later turns; those stay.`,
  "last-prompt-outranked": (f) => `The last prompt names leaf ${f.uuid}, but newer messages stand on another branch.`,
  "last-prompt-unknown": (f) => `The last prompt names leaf ${f.uuid}, which is no message of this lane.`,
  "orphan-result": (f) => `${f.uuid} answers call ${f.toolUseId}, which is not in the conversation.`,
  "duplicate-result": (f) => `${f.uuid} answers call ${f.toolUseId} a second time.`,
  "unresolved-call": (f) => `Call ${f.toolUseId} of ${f.uuid} was never answered.`,
  "pending-prompt": (f) => `A prompt was queued and never sent: ${JSON.stringify(f.text.slice(0, 80))}.`,
  drift: (f) => `Checkpoint ${f.uuid} counted ${f.expected} entries before it, ${f.found ?? "none"} were recovered.`,
  "bad-metadata": (f) => `A ${f.type} entry has no usable value.`,
  "foreign-session": (f) => `${f.count} entries were written by session ${f.sessionId}.`,
  "session-unnamed": (f) => `The log tells no session; it goes on as ${f.sessionId}.`,
  "host-missing": (f) => `The ${f.what} ${f.name} is gone.`
}

/**
 * One sentence for people.
 *
 * @category combinators
 * @since 0.1.0
 */
export const explain = (finding: Finding): string =>
  (explanations[finding.kind] as (finding: Finding) => string)(finding)
