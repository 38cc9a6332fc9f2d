/**
 * Spool: lines of many logs put down in one file, until it is known that all have come.
 *
 *   add ─▶ waiting, 1 MiB of all logs together ─ flush ─▶ │ a a │ b │ a │ ─ forEach("a") ─▶ pieces of whole lines
 */
import * as SideFile from "@reprise/storage/SideFile"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { Buffer } from "node:buffer"

/** What may wait before it is put down. */
const MOST = 1 << 20

interface Waiting {
  readonly parts: Array<Uint8Array>
  size: number
}

/** A spool in a draft at the path, which is made with the first line and gone with the scope. */
export const make = Effect.fnUntraced(function* (file: string) {
  const scope = yield* Effect.scope
  const waiting = new Map<string, Waiting>()
  const pieces = new Map<string, Array<readonly [offset: number, length: number]>>()
  let draft: SideFile.Draft | undefined
  let size = 0
  let total = 0
  const flush = Effect.gen(function* () {
    draft ??= yield* Effect.provideService(SideFile.draft(file), Scope.Scope, scope)
    for (const [log, { parts, size: length }] of waiting) {
      const known = pieces.get(log)
      if (known === undefined) pieces.set(log, [[size, length]])
      else known.push([size, length])
      yield* draft.append(Buffer.concat(parts, length))
      size += length
    }
    waiting.clear()
    total = 0
  })
  return {
    /** Adds a line, with its LF, to those of a log. */
    add: (log: string, line: Uint8Array): void => {
      const own = waiting.get(log) ?? { parts: [], size: 0 }
      waiting.set(log, own)
      own.parts.push(line)
      own.size += line.length
      total += line.length
    },
    /** Puts down what waits; to be called between lines, as often as one likes. */
    settle: Effect.suspend(() => (total >= MOST ? flush : Effect.void)),
    /** Gives the lines of a log in pieces of whole lines. */
    forEach: Effect.fnUntraced(function* <E, R>(log: string, use: (lines: Uint8Array) => Effect.Effect<void, E, R>) {
      yield* flush
      for (const [offset, length] of pieces.get(log) ?? []) yield* use(yield* draft!.read(offset, length))
    })
  }
})
