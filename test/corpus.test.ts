/**
 * Real transcripts, where a folder of them lies beside the project; without it these tests say so and are skipped. How
 * many of them are also tried at every prefix of lines is set by REPRISE_PREFIX_FILES (default: 3, the shortest).
 */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import type { SessionState } from "@reprise/recovery/SessionState"
import * as RecoveryLaws from "@reprise/recovery/testing/RecoveryLaws"
import * as fs from "node:fs"
import * as path from "node:path"
import { refused } from "./recovery/refused.ts"

const folder = path.resolve(import.meta.dirname, "../../shared/corpus")
const isThere = fs.existsSync(folder)
if (!isThere) console.log("no corpus beside the project: its tests are skipped")

const files = isThere ? fs.readdirSync(folder).filter((file) => file.endsWith(".jsonl")) : []
const bytesOf = (file: string): Uint8Array => new Uint8Array(fs.readFileSync(path.join(folder, file)))
const sum = ({ archived, branches, conversation, removed }: SessionState): number =>
  conversation.length + removed.length + archived + branches.reduce((total, { entries }) => total + entries, 0)

const breach = (state: SessionState): string | undefined =>
  sum(state) === state.messages
    ? (refused(ModelMessages.make(state)) ?? refused(ModelMessages.make(state, { unresolved: "close" })))
    : `${sum(state)} of ${state.messages} messages are accounted for`

describe.skipIf(!isThere)("every transcript of the corpus", () => {
  it("recovers, with every message accounted for, a legal model view, and no drift", { timeout: 120_000 }, () => {
    let checked = 0
    for (const file of files) {
      const state = Recovery.fold(Line.decodeAll(bytesOf(file)))
      assert.isUndefined(breach(state), file)
      assert.deepStrictEqual(state.consistency.drift, [], file)
      checked += state.consistency.checked
    }
    console.log(`corpus: ${files.length} transcripts, ${checked} checkpoints without drift`)
    assert.isAbove(checked, 0)
  })

  it("keeps the laws of any log", { timeout: 120_000 }, () => {
    for (const file of files.filter((_, i) => i % 20 === 0)) {
      assert.deepStrictEqual(RecoveryLaws.check(bytesOf(file)), [], file)
    }
  })

  it("loses its agreement by one when a parallel result before a checkpoint is taken away", () => {
    let tried = 0
    for (const file of files) {
      const log = Line.decodeAll(bytesOf(file))
      const { conversation } = Recovery.fold(log)
      const at = conversation.findIndex(({ entry }) => entry.type === "system" && entry.messageCount !== undefined)
      const result = conversation
        .slice(0, at)
        .find(({ entry, answers }) => answers.length === 1 && isLeaf(log, entry.uuid))
      if (at < 0 || result === undefined) continue
      const { consistency } = Recovery.fold(log.filter(({ entry }) => entry !== result.entry))
      const drift = consistency.drift.find(({ uuid }) => uuid === conversation[at]!.uuid)
      assert.strictEqual(drift === undefined ? 0 : drift.expected - drift.found, 1, file)
      tried++
    }
    assert.isAbove(tried, 0)
  })

  it("recovers at every prefix of its lines", { timeout: 3_600_000 }, () => {
    const bySize = files.toSorted((a, b) => sizeOf(a) - sizeOf(b))
    const chosen = bySize
      .filter((file) => sizeOf(file) > 2000)
      .slice(0, Number(process.env["REPRISE_PREFIX_FILES"] ?? 3))
    let prefixes = 0
    for (const file of chosen) {
      const log = Line.decodeAll(bytesOf(file))
      for (let n = 0; n <= log.length; n++, prefixes++) {
        assert.isUndefined(breach(Recovery.stateAt(log, n)), `${file} up to entry ${n}`)
      }
    }
    console.log(`corpus: ${prefixes} prefixes of ${chosen.length} transcripts`)
  })
})

const sizeOf = (file: string): number => fs.statSync(path.join(folder, file)).size

/** Whether no message of the log hangs on it: one result beside others, not the one that the talk goes on from. */
const isLeaf = (log: ReadonlyArray<Line.Located>, uuid: string): boolean =>
  !log.some(({ entry }) => (entry as { readonly parentUuid?: unknown }).parentUuid === uuid)
