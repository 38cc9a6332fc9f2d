/**
 * Archived: a log whose conversation its end alone tells, read for what a session has to know of all of it.
 *
 *   │ ids, by their bytes · what is no message │ kept messages · boundary … end │
 *                                              └ from: decoded
 *
 * 1. `History` finds where the end begins. What is read then is judged once more: others may have written meanwhile.
 * 2. A message before the end is passed by where its bytes tell its id: where there is but one, of no sidechain and of no
 *    snip. That its line is whole, and the id its own, is looked up when it comes to that (`Session.accept`).
 * 3. A call that was open where the end begins is not known. Its result hangs on the tail, as it does where all was read,
 *    and does not name its caller.
 * 4. An id of the end that stands before it as well is a copy, of which the whole log has to tell (`Suffix`).
 */
import type * as Line from "@reprise/domain/Line"
import type * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Projection from "@reprise/domain/Projection"
import type * as SessionSource from "@reprise/domain/SessionSource"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import type * as EntryLog from "../EntryLog.ts"
import * as History from "../History.ts"
import * as LineReader from "../LineReader.ts"
import type * as MetadataTail from "../MetadataTail.ts"
import * as Chain from "./chain.ts"
import * as Ids from "./ids.ts"
import * as Sayings from "./sayings.ts"
import * as Session from "./session.ts"
import * as Sift from "./sift.ts"

/** What is asked of all of the log, the messages behind its first directory apart. */
type Beside = {
  readonly tail: Projection.Projection<Line.Located, MetadataTail.MetadataTail>
  readonly cwd: Projection.Projection<Line.Located, string | undefined>
}

/** The main lane of a log, its leaf, and what stands beside it; nothing where only the whole log can tell. */
export const read = (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  leaf: SessionSource.FindLeaf,
  beside: Beside
) =>
  Session.laneFrom(
    port,
    log,
    Effect.gen(function* () {
      const end = yield* History.readEnd(log, leaf, { history: "suffix" })
      return "from" in end ? yield* readFrom(log, end.from, leaf, beside) : undefined
    })
  )

const readFrom = Effect.fnUntraced(function* (
  log: EntryLog.LogId,
  from: number,
  leaf: SessionSource.FindLeaf,
  beside: Beside
) {
  const chain = Chain.make()
  const rest = Projection.run(Projection.struct(beside))
  const judged = Projection.run(leaf.conversation)
  let hasCopies = false
  const evolve = (located: Line.Located): void => {
    const { at, entry } = located
    rest.evolve(located)
    if (at.byteStart < from) {
      if (Sayings.isMain(entry)) Chain.pass(chain, entry)
      return
    }
    judged.evolve(located)
    if (!Sayings.isMain(entry)) return
    hasCopies ||= (chain.seen.get(entry.uuid) ?? 0) < 0
    Chain.advance(chain, entry)
  }
  let hasDirectory = false
  const isPassed: LineSplitter.IsPassed = (bytes, start, end, byte) => {
    if (byte >= from) return false
    hasDirectory ||= rest.extract().cwd !== undefined
    const id = hasDirectory ? idOf(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)) : undefined
    if (id !== undefined) chain.seen.set(id, Chain.PASSED)
    return id !== undefined
  }
  const mark = yield* LineReader.forEach(log, evolve, LineReader.start, isPassed)
  const { answer, verdict } = judged.extract()
  if (verdict._tag !== "Sufficient" || hasCopies) return undefined
  return { mark, chain, folded: { ...rest.extract(), leaf: answer(undefined, "suffix") } }
})

const SIDECHAIN = Buffer.from('"isSidechain":true')
const SNIP = Buffer.from('"snip_boundary"')

/** The id of a message, where the bytes of its line tell it. */
const idOf = (line: Buffer): string | undefined => {
  if (!Sift.isMessage(Sift.kindOf(line, 0, line.length)) || line.includes(SIDECHAIN) || line.includes(SNIP)) return
  const ids: Array<string> = []
  return Ids.inBytes(line, (id) => ids.push(id)) && ids.length === 1 ? ids[0] : undefined
}
