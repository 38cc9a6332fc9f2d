/** Plans and backups of a session that is resumed, where Claude Code keeps them. */
import { assert, describe, it } from "@effect/vitest"
import * as FileHost from "@reprise/cli/FileHost"
import * as SessionSource from "@reprise/domain/SessionSource"
import * as Host from "@reprise/recovery/Host"
import * as Resume from "@reprise/recovery/Resume"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as StoredSessionSource from "@reprise/storage/StoredSessionSource"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { beside, id, logOf } from "../recovery/hosting.ts"
import * as Temporary from "../storage/temporary.ts"

/** A configuration directory, and one of somebody else. */
const placed = Effect.map(Temporary.directory, (directory) => {
  const write = (file: string, text: string): string => {
    const at = path.join(directory, file)
    fs.mkdirSync(path.dirname(at), { recursive: true })
    fs.writeFileSync(at, text)
    return at
  }
  const config = path.join(directory, "own")
  const layer = StoredSessionSource.layerWith({ version: "2.1.0" }).pipe(
    Layer.provideMerge(SessionWriter.layer),
    Layer.provideMerge(FileEntryLog.layerWith({ projects: path.join(config, "projects") })),
    Layer.merge(FileHost.layerWith({ config })),
    Layer.merge(Host.SessionStartHooks.layerNone)
  )
  const outcomes = (file: string) =>
    Effect.map(Resume.load(SessionSource.path(file)), ({ findings, steps }) => [
      ...steps.slice(3, 5).map(({ outcome }) => outcome),
      ...findings.flatMap((one) => (one.kind === "host-missing" ? `${one.what} ${one.name}` : []))
    ]).pipe(Effect.provide(layer))
  return { config, write, outcomes, read: (file: string) => fs.readFileSync(path.join(config, file), "utf8") }
})

describe("FileHost", () => {
  it.live("brings what lies beside a log from elsewhere, and moves nothing where all is there", () =>
    Effect.gen(function* () {
      const { outcomes, read, write } = yield* placed
      const log = logOf(id(1), "u1-a1", [beside.files], { slug: "lamp" })
      write("other/plans/lamp.md", "1. lamp")
      write(`other/file-history/${id(1)}/a@v1`, "before")
      const file = write(`other/projects/-work/${id(1)}.jsonl`, log)
      assert.deepStrictEqual(yield* outcomes(file), ["done", "done"])
      assert.deepStrictEqual([read("plans/lamp.md"), read(`file-history/${id(1)}/a@v1`)], ["1. lamp", "before"])
      assert.deepStrictEqual(yield* outcomes(file), ["unchanged", "unchanged"])
    })
  )

  it.live(
    "writes a plan from its last text, links backups of the session that the lines come from, tells what is gone",
    () =>
      Effect.gen(function* () {
        const { outcomes, read, write } = yield* placed
        const forked = { forkedFrom: { sessionId: id(1), messageUuid: "a1" } }
        const told = logOf(id(2), "u1-a1", [beside.files], { ...forked, slug: "lamp" }).replace(
          '"type":"user"',
          '"planContent":"1. lamp","type":"user"'
        )
        write(`own/file-history/${id(1)}/a@v1`, "before")
        const file = write(`own/projects/-work/${id(2)}.jsonl`, told)
        assert.deepStrictEqual(yield* outcomes(file), ["done", "done"])
        assert.deepStrictEqual([read("plans/lamp.md"), read(`file-history/${id(2)}/a@v1`)], ["1. lamp", "before"])
        const silent = write(
          `own/projects/-work/${id(3)}.jsonl`,
          logOf(id(3), "u1-a1", [beside.files], { slug: "desk" })
        )
        assert.deepStrictEqual(yield* outcomes(silent), ["unchanged", "unchanged", "plan desk", "backup a@v1"])
      })
  )

  it.live("takes no name from a log that leads elsewhere", () =>
    Effect.gen(function* () {
      const { config, outcomes, write } = yield* placed
      const hostile = JSON.stringify(beside.files).replace("a@v1", "../../../secret")
      write("secret", "secret")
      const file = write(
        `own/projects/-work/${id(1)}.jsonl`,
        logOf(id(1), "u1-a1", [JSON.parse(hostile)], { slug: "../../secret", planContent: "planted" })
      )
      assert.deepStrictEqual(yield* outcomes(file), [
        "unchanged",
        "unchanged",
        "plan ../../secret",
        "backup ../../../secret"
      ])
      assert.deepStrictEqual(fs.readdirSync(config), ["projects"])
    })
  )

  it.live("fails with what a file system says", () =>
    Effect.gen(function* () {
      const { outcomes, write } = yield* placed
      write("own/plans", "a file where the folder should be")
      const file = write(
        `own/projects/-work/${id(1)}.jsonl`,
        logOf(id(1), "u1-a1", [], { slug: "lamp", planContent: "1. lamp" })
      )
      const failed = yield* Effect.flip(outcomes(file))
      assert.strictEqual(failed._tag, "HostFailed")
      assert.include(failed.message, "the host's PlanStore failed")
    })
  )
})
