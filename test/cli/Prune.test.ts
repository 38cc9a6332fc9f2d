import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { home, session } from "../storage/bundled.ts"
import { runWith } from "./running.ts"

const ids = ["1", "2"].map((n) => `0f0f0f0f-0000-4000-8000-00000000000${n}`)

const placed = Effect.map(home, (at) => {
  ids.forEach((sessionId, i) => {
    const timestamp = `2026-03-0${i + 1}T12:00:00.000Z`
    const line = { type: "user", uuid: "u1", parentUuid: null, message: { content: "Why?" }, timestamp, sessionId }
    session(at, sessionId, `${JSON.stringify(line)}\n`)
  })
  const prune = (...args: ReadonlyArray<string>) =>
    runWith({ logs: at.layer }, "prune", "--all", "--projects", at.projects, ...args)
  return { ...at, prune }
})

describe("reprise prune", () => {
  it.effect("tells of a session that it cannot see as a whole, leaves it, and fails", () =>
    Effect.gen(function* () {
      const { projects, prune, tree } = yield* placed
      // Deeper than a path may be long, as only a program gets that goes there step by step.
      const folder = path.join(projects, "-old-work", ids[0]!, "subagents")
      const steps = `cd "${folder}"; for i in $(seq 18); do mkdir ${"d".repeat(250)}; cd ${"d".repeat(250)}; done`
      assert.strictEqual(spawnSync("bash", ["-c", steps]).status, 0)
      const text = yield* prune("--max-count", "0")
      assert.match(
        text.out,
        /^0f0f\S*2 .*\n\S*0f0f\S*1\.jsonl not read: list failed .*: ENAMETOOLONG: name too long\.\n$/
      )
      assert.strictEqual(text.failure, "NotAllPruned")
      const json = (yield* prune("--max-count", "0", "--delete", "--json")).out.trimEnd().split("\n")
      const [gone, left] = json.map((line) => JSON.parse(line))
      assert.deepStrictEqual([gone.sessionId, gone.outcome], [ids[1], "deleted"])
      assert.deepStrictEqual([left.record, left.ok, left.error._tag], ["passed", false, "EntryLogError"])
      assert.isTrue(fs.existsSync(path.join(projects, "-old-work", `${ids[0]!}.jsonl`)))
      assert.strictEqual(spawnSync("rm", ["-rf", folder]).status, 0)
      assert.isFalse(Object.keys(tree()).some((file) => file.includes(ids[1]!)))
    }).pipe(Effect.scoped)
  )

  it.effect("lists what would go, and changes nothing, whatever else is said", () =>
    Effect.gen(function* () {
      const { prune, root, tree } = yield* placed
      const before = tree()
      const listed = yield* prune("--max-count", "1")
      assert.strictEqual(listed.out, `${ids[0]!}  2026-03-01 12:00  1 kB in 5 files  beyond the count  Why?\n`)
      assert.match(
        listed.noted,
        /^1 session, 1 kB would go; --archive DIR or --delete lets them go; kept: 1 session, 1 kB\n$/
      )
      const archive = path.join(root, "archive")
      const dry = yield* prune("--max-count", "0", "--dry-run", "--archive", archive, "--json")
      const records = dry.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        records.map(({ outcome, sessionId, why }) => [sessionId, outcome, why]),
        ids.map((id) => [id, "would-go", "count"])
      )
      assert.strictEqual(records[0].files.length, 5)
      assert.deepStrictEqual([tree(), fs.existsSync(archive)], [before, false])
    }).pipe(Effect.scoped)
  )

  it.effect("archives or deletes when asked, and reports each", () =>
    Effect.gen(function* () {
      const { prune, root, tree } = yield* placed
      const archive = path.join(root, "archive")
      const archived = yield* prune("--max-count", "1", "--archive", archive)
      assert.match(archived.out, new RegExp(`^${ids[0]!} .* archived {2}Why\\?\n$`))
      assert.match(archived.noted, /^1 of 1 session, 1 kB let go; kept: 1 session/)
      assert.deepStrictEqual(fs.readdirSync(archive), [`${ids[0]!}.tar.gz`])
      const deleted = JSON.parse((yield* prune("--max-size", "0B", "--delete", "--json")).out)
      assert.deepStrictEqual([deleted.sessionId, deleted.outcome, deleted.why], [ids[1], "deleted", "size"])
      assert.deepStrictEqual(tree(), {})
    }).pipe(Effect.scoped)
  )

  it.effect("needs a policy, one way, and quantities with a unit; a failure is one", () =>
    Effect.gen(function* () {
      const { prune, root, tree } = yield* placed
      const before = tree()
      assert.match((yield* prune("--delete")).noted, /^NotAsked .*--older-than, --max-count or --max-size/s)
      assert.match((yield* prune("--max-count", "0", "--delete", "--archive", "x")).noted, /found both/)
      assert.strictEqual((yield* prune("--older-than", "30")).failure, "ShowHelp")
      fs.writeFileSync(path.join(root, "file"), "")
      const failed = yield* prune("--max-count", "1", "--archive", path.join(root, "file"))
      assert.strictEqual(failed.failure, "NotAllPruned")
      assert.match(failed.out, / left: /)
      assert.match(failed.noted, /^0 of 1 session, 1 kB let go; left: 1 session, 1 kB; kept: 1 session, 1 kB\n$/)
      assert.deepStrictEqual(tree(), before)
    }).pipe(Effect.scoped)
  )
})
