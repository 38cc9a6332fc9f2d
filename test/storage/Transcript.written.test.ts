/**
 * Transcripts that the reference client wrote, where a folder of them lies beside the project; without it these tests say
 * so and are skipped. Each is continued in a copy.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const folder = path.resolve(import.meta.dirname, "../../../shared/cases/written")
const isThere = fs.existsSync(folder)
if (!isThere) console.log("no cases beside the project: continuing what the reference client wrote is skipped")

const cases = isThere
  ? fs.readdirSync(folder).flatMap((name) =>
      fs
        .readdirSync(path.join(folder, name))
        .filter((file) => file.endsWith(".jsonl"))
        .map((file) => path.join(name, file))
    )
  : []

/** Crafted logs, each with one shape of damage or history. */
const crafted = isThere
  ? fs
      .readdirSync(path.dirname(folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /^(client|B\d+).*\.jsonl$/.test(file))
      .map((file) => path.join(path.dirname(folder), file))
  : []

const bytesOf = (file: string) => new Uint8Array(fs.readFileSync(file))
const recover = (file: string) => Recovery.fold(Line.decodeAll(bytesOf(file)))
const idsOf = (state: ReturnType<typeof recover>) => state.conversation.map(({ uuid }) => uuid)

describe.skipIf(!isThere)("a log of any shape", () => {
  it.effect(
    `is continued where recovery ends, and the checkpoint behind it agrees (${crafted.length} logs)`,
    () =>
      Effect.forEach(crafted, (file) => {
        const before = recover(file)
        const sessionId = "00000000-0000-4000-8000-000000000001"
        const log = EntryLog.at(`/w/${sessionId}.jsonl`)
        const where = { sessionId, log, cwd: "/work", version: "2.1.332" }
        return Effect.gen(function* () {
          yield* EntryLog.EntryLog.use((port) => port.append(log, bytesOf(file)))
          const transcript = yield* Transcript.adopt({ ...where, leaf: Recovery.leaf })
          const { uuid } = yield* transcript.append(Message.user("go on"))
          const ended = yield* transcript.endTurn({ durationMs: 1 })
          const after = yield* transcript.project(Recovery.projection)
          assert.deepStrictEqual(idsOf(after), [...idsOf(before), uuid, ended.uuid], file)
          assert.deepStrictEqual(after.consistency.drift, before.consistency.drift, file)
          assert.strictEqual(after.consistency.checked, before.consistency.checked + 1, file)
        }).pipe(Effect.scoped, Effect.provide(SessionWriter.layer.pipe(Layer.provideMerge(EntryLog.layerMemory))))
      }),
    120_000
  )
})

describe.skipIf(!isThere)("a log that the reference client wrote", () => {
  for (const name of cases) {
    it.effect(`is continued where it ended, its lines unchanged: ${name}`, () =>
      Effect.gen(function* () {
        const directory = yield* Temporary.directory
        const file = path.join(directory, "projects", "-work", path.basename(name))
        fs.mkdirSync(path.dirname(file), { recursive: true })
        fs.copyFileSync(path.join(folder, name), file)
        const sidechains = path.join(folder, name.slice(0, -".jsonl".length))
        if (fs.existsSync(sidechains)) fs.cpSync(sidechains, file.slice(0, -".jsonl".length), { recursive: true })
        const [text, before] = [fs.readFileSync(file, "utf8"), recover(file)]
        const made: Array<string> = []
        yield* Effect.gen(function* () {
          const transcript = yield* Transcript.adopt({
            sessionId: path.basename(file, ".jsonl"),
            log: EntryLog.at(file),
            cwd: "/work",
            version: "2.1.332",
            leaf: Recovery.leaf
          })
          const reply = Message.assistant({ id: "msg_more", model: "m", content: [{ type: "text", text: "more" }] })
          for (const body of [Message.user("go on"), reply]) made.push((yield* transcript.append(body)).uuid)
          made.push((yield* transcript.endTurn({ durationMs: 1 })).uuid)
        }).pipe(
          Effect.scoped,
          Effect.provide(
            SessionWriter.layer.pipe(
              Layer.provideMerge(FileEntryLog.layerWith({ projects: path.join(directory, "projects") }))
            )
          )
        )
        const after = recover(file)
        assert.isTrue(fs.readFileSync(file, "utf8").startsWith(text))
        assert.deepStrictEqual(idsOf(after), [...idsOf(before), ...made])
        assert.deepStrictEqual(after.consistency.drift, before.consistency.drift)
        assert.strictEqual(after.consistency.checked, before.consistency.checked + 1)
        for (const key of ["title", "tag", "mode", "agentName"] as const) {
          assert.deepStrictEqual(after.metadata[key], before.metadata[key], key)
        }
      }).pipe(Effect.scoped)
    )
  }
})
