/**
 * Packed: the messages of a lane without their texts, in columns: what a fork holds of a long session.
 *
 *   Node { seq, uuid, at, entry, reply, calls, answers }  ─▶  ~100 bytes     read back through a view of two words
 *
 * A view is the node and its entry at once; of an entry it knows what repair asks for, and no text. What inherits from one
 * answers as it does, so nothing of it is private.
 */
import * as Boundary from "@reprise/domain/Boundary"
import type * as Entry from "@reprise/domain/Entry"
import * as Projection from "@reprise/domain/Projection"
import * as DateTime from "effect/DateTime"
import * as Bridge from "../Bridge.ts"
import type * as Lanes from "../Lanes.ts"
import * as SessionGraph from "../SessionGraph.ts"
import * as Usage from "../Usage.ts"
import * as Column from "./column.ts"
import * as Names from "./names.ts"
import * as Nodes from "../Nodes.ts"

const types = ["user", "assistant", "attachment", "system"] as const
const META = 4
const SUMMARY = 8

/** No text, no node. */
const NONE = -1

interface Columns {
  readonly uuids: Names.Names
  /** Ids of replies and calls, and subtypes of system entries. */
  readonly words: Names.Names
  readonly seq: Column.Column
  readonly line: Column.Column
  readonly start: Column.Column
  readonly size: Column.Column
  readonly time: Column.Column
  readonly flags: Column.Column
  /** The node that it hangs on, where that stood before it. */
  readonly parent: Column.Column
  /** Of an assistant its reply, of a system entry its subtype. */
  readonly word: Column.Column
  /** The call that it makes or answers; where there are several, or the parent came later, the map below has them. */
  readonly call: Column.Column
  readonly calls: Map<number, ReadonlyArray<number>>
  readonly parents: Map<number, string>
  readonly records: Map<number, object>
}

class View implements SessionGraph.Node {
  readonly columns: Columns
  readonly index: number
  constructor(columns: Columns, index: number) {
    this.columns = columns
    this.index = index
  }
  get uuid() {
    return this.columns.uuids.at(this.index)
  }
  get seq() {
    return this.columns.seq.get(this.index)
  }
  get at() {
    const { line, size, start } = this.columns
    const byteStart = start.get(this.index)
    return { line: line.get(this.index), byteStart, byteEnd: byteStart + size.get(this.index) }
  }
  get entry() {
    return this as unknown as Entry.Message
  }
  get type() {
    return types[this.columns.flags.get(this.index) & 3]!
  }
  get parentUuid(): string | null {
    const parent = this.columns.parent.get(this.index)
    return parent >= 0 ? this.columns.uuids.at(parent) : (this.columns.parents.get(this.index) ?? null)
  }
  get timestamp() {
    const time = this.columns.time.get(this.index)
    return Number.isNaN(time) ? undefined : DateTime.formatIso(DateTime.makeUnsafe(time))
  }
  get isMeta() {
    return (this.columns.flags.get(this.index) & META) > 0
  }
  get isCompactSummary() {
    return (this.columns.flags.get(this.index) & SUMMARY) > 0
  }
  get reply() {
    return this.type === "assistant" ? wordOf(this) : undefined
  }
  get subtype() {
    return this.type === "system" ? wordOf(this) : undefined
  }
  get message() {
    return { id: this.reply, content: [] }
  }
  get calls() {
    return this.type === "assistant" ? callsOf(this) : none
  }
  get answers() {
    return this.type === "user" ? callsOf(this) : none
  }
  get compactMetadata() {
    return (this.columns.records.get(this.index) as { readonly compactMetadata?: object } | undefined)?.compactMetadata
  }
  get snipMetadata() {
    return (this.columns.records.get(this.index) as { readonly snipMetadata?: object } | undefined)?.snipMetadata
  }
}

const none: ReadonlyArray<string> = []

const wordOf = ({ columns: { word, words }, index }: View): string | undefined =>
  word.get(index) === NONE ? undefined : words.at(word.get(index))

const callsOf = ({ columns: { call, calls, words }, index }: View): ReadonlyArray<string> => {
  const one = call.get(index)
  return one === NONE ? none : (calls.get(index) ?? [one]).map(words.at)
}

const shelf = (): Lanes.Shelf => {
  const columns: Columns = {
    uuids: Names.make(),
    words: Names.make(),
    seq: Column.int32(),
    line: Column.int32(),
    start: Column.float64(),
    size: Column.int32(),
    time: Column.float64(),
    flags: Column.uint8(),
    parent: Column.int32(),
    word: Column.int32(),
    call: Column.int32(),
    calls: new Map(),
    parents: new Map(),
    records: new Map()
  }
  const { uuids } = columns
  return {
    ids: uuids,
    put: (node) => pack(columns, node),
    // What is not held is not compared.
    unlike: () => undefined,
    nodes: () => Nodes.make(columns.seq.length(), (index) => new View(columns, index))
  }
}

/** Nothing is counted. */
const usage: Lanes.Holding["usage"] = {
  initial: () => undefined,
  evolve: () => undefined,
  extract: Projection.run(Usage.ofParts).extract
}

/** What holds the messages of a lane in columns. */
export const holding: Lanes.Holding = { shelf, usage }

const pack = (columns: Columns, node: SessionGraph.Node): void => {
  const { answers, at, calls, entry, index, reply, seq, uuid } = node
  const { parents, records, uuids, words } = columns
  const { compactMetadata, isMeta, snipMetadata, subtype } = entry as Entry.OfKind<"system">
  const parentUuid = SessionGraph.parentUuidOf(entry)
  const parent = parentUuid === null ? undefined : uuids.get(parentUuid)
  if (parentUuid !== null && parent === undefined) parents.set(index, parentUuid)
  uuids.add(uuid)
  columns.seq.push(seq)
  columns.line.push(at.line)
  columns.start.push(at.byteStart)
  columns.size.push(at.byteEnd - at.byteStart)
  columns.time.push(Bridge.timeOf(node) ?? Number.NaN)
  const isSummary = Boundary.isCompactSummary(entry)
  columns.flags.push(types.indexOf(entry.type) | (isMeta === true ? META : 0) | (isSummary ? SUMMARY : 0))
  columns.parent.push(parent ?? NONE)
  const word = entry.type === "system" ? subtype : reply
  columns.word.push(typeof word === "string" ? words.add(word) : NONE)
  const numbers = [...calls, ...answers].map(words.add)
  columns.call.push(numbers[0] ?? NONE)
  if (numbers.length > 1) columns.calls.set(index, numbers)
  if (compactMetadata !== undefined || snipMetadata !== undefined) records.set(index, { compactMetadata, snipMetadata })
}
