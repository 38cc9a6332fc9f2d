import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as Lane from "@reprise/domain/Lane"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as EntryLogSuite from "@reprise/storage/testing/EntryLogSuite"
import { ConfigProvider, Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const sessionId = "00000000-0000-4000-8000-000000000001"
const log = EntryLog.session("-w", sessionId)
const agent = EntryLog.withLane(log, Lane.sidechain("a1", ["sub"]))
const bytes = (text: string) => new TextEncoder().encode(text)
const modeOf = (file: string) => (fs.statSync(file).mode & 0o777).toString(8)

/** Runs with the port, the projects directory and the path of `log`. */
const withFiles = <A, E>(
  use: (port: EntryLog.EntryLog["Service"], file: string, projects: string) => Effect.Effect<A, E>,
  options?: { readonly maxOpen?: number }
) =>
  Effect.gen(function* () {
    const projects = path.join(yield* Temporary.directory, "config", "projects")
    const layer = FileEntryLog.layerWith({ projects, ...options })
    return yield* EntryLog.EntryLog.use((port) => use(port, EntryLog.pathOf(projects, log), projects)).pipe(
      Effect.provide(layer)
    )
  }).pipe(Effect.scoped)

const withUmask = <A, E, R>(mask: number, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => process.umask(mask)),
    () => effect,
    (before) => Effect.sync(() => process.umask(before))
  )

describe("the port", () => {
  for (const { name, run } of EntryLogSuite.tests(Temporary.layer)) it.effect(name, () => run)
})

describe("the port over Effect's FileSystem", () => {
  const layer = Layer.unwrap(
    Effect.map(Temporary.directory, (made) => FileEntryLog.layerFileSystem({ projects: path.join(made, "projects") }))
  ).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))
  for (const { name, run } of EntryLogSuite.tests(layer)) it.effect(name, () => run)

  it.effect("files are 0600 and directories 0700, and a symlink is refused", () =>
    Effect.gen(function* () {
      const projects = path.join(yield* Temporary.directory, "projects")
      const over = FileEntryLog.layerFileSystem({ projects }).pipe(
        Layer.provide([NodeFileSystem.layer, NodePath.layer])
      )
      const file = EntryLog.pathOf(projects, log)
      const append = EntryLog.EntryLog.use((port) => port.append(log, bytes("{}\n"))).pipe(Effect.provide(over))
      yield* append
      assert.deepStrictEqual([file, path.dirname(file)].map(modeOf), ["600", "700"])
      fs.renameSync(file, `${file}.target`)
      fs.symlinkSync(`${file}.target`, file)
      assert.strictEqual((yield* Effect.flip(append)).reason, "Symlink")
    }).pipe(Effect.scoped)
  )

  it.effect.skipIf(process.platform !== "linux")("a directory that cannot be made is an error", () =>
    Effect.gen(function* () {
      const append = EntryLog.EntryLog.use((port) => port.append(log, bytes("{}\n")))
      const over = FileEntryLog.layerFileSystem({ projects: "/proc/none/projects" }).pipe(
        Layer.provide([NodeFileSystem.layer, NodePath.layer])
      )
      for (const layer of [over, FileEntryLog.layerWith({ projects: "/proc/none/projects" })]) {
        assert.strictEqual((yield* Effect.flip(Effect.provide(append, layer))).operation, "append")
      }
    })
  )
})

describe("permissions", () => {
  for (const mask of [0o000, 0o022, 0o777]) {
    it.effect(`files are 0600 and directories 0700 under umask ${mask.toString(8).padStart(3, "0")}`, () =>
      withFiles((port, file, projects) =>
        Effect.gen(function* () {
          yield* withUmask(mask, Effect.andThen(port.append(log, bytes("{}\n")), port.append(agent, bytes("{}\n"))))
          assert.strictEqual(modeOf(file), "600")
          assert.strictEqual(modeOf(EntryLog.pathOf(projects, agent)), "600")
          for (let folder = path.dirname(EntryLog.pathOf(projects, agent)); folder.length >= projects.length - 8;) {
            assert.strictEqual(modeOf(folder), "700", folder)
            folder = path.dirname(folder)
          }
        })
      )
    )
  }

  it.effect("a wider transcript or project folder is narrowed, what is above stays", () =>
    withFiles((port, file, projects) =>
      Effect.gen(function* () {
        fs.mkdirSync(path.dirname(file), { recursive: true })
        fs.writeFileSync(file, "{}\n")
        fs.chmodSync(file, 0o644)
        fs.chmodSync(path.dirname(file), 0o755)
        fs.chmodSync(projects, 0o755)
        yield* port.append(log, bytes("{}\n"))
        assert.deepStrictEqual([file, path.dirname(file), projects].map(modeOf), ["600", "700", "755"])
      })
    )
  )

  it.effect("a folder with the sticky bit is there for all, and stays so", () =>
    withFiles((port, file) =>
      Effect.gen(function* () {
        fs.mkdirSync(path.dirname(file), { recursive: true })
        fs.chmodSync(path.dirname(file), 0o1777)
        yield* port.append(log, bytes("{}\n"))
        assert.deepStrictEqual([file, path.dirname(file)].map(modeOf), ["600", "777"])
      })
    )
  )

  it.effect("a reader changes neither mode nor time, and needs no permission to write", () =>
    withFiles((port, file) =>
      Effect.gen(function* () {
        yield* port.append(log, bytes("{}\n"))
        yield* port.release(log)
        fs.chmodSync(file, 0o400)
        const before = fs.statSync(file)
        const reader = yield* port.reader(log)
        assert.strictEqual(yield* reader.read(0, new Uint8Array(8)), 3)
        const after = fs.statSync(file)
        assert.deepStrictEqual([after.mode, after.mtimeMs, after.size], [before.mode, before.mtimeMs, before.size])
      }).pipe(Effect.scoped)
    )
  )

  it.effect("a transcript that is a symlink is refused", () =>
    withFiles((port, file) =>
      Effect.gen(function* () {
        fs.mkdirSync(path.dirname(file), { recursive: true })
        fs.writeFileSync(`${file}.target`, "")
        fs.symlinkSync(`${file}.target`, file)
        const error = yield* Effect.flip(port.append(log, bytes("{}\n")))
        assert.strictEqual(error.reason, "Symlink")
        assert.strictEqual(fs.readFileSync(`${file}.target`, "utf8"), "")
      })
    )
  )
})

describe("torn tails", () => {
  it.effect("a tail that was torn before the log was opened is healed, once", () =>
    withFiles((port, file) =>
      Effect.gen(function* () {
        fs.mkdirSync(path.dirname(file), { recursive: true })
        fs.writeFileSync(file, '{"a":1}\n{"to')
        yield* port.append(log, bytes('{"b":2}\n'))
        yield* port.append(log, bytes('{"c":3}\n'))
        assert.strictEqual(fs.readFileSync(file, "utf8"), '{"a":1}\n{"to\n{"b":2}\n{"c":3}\n')
      })
    )
  )

  it.effect("a tail that another program tore while the log is open is healed too", () =>
    withFiles((port, file) =>
      Effect.gen(function* () {
        yield* port.append(log, bytes('{"a":1}\n'))
        fs.appendFileSync(file, '{"to')
        const at = yield* port.append(log, bytes('{"b":2}\n'))
        assert.deepStrictEqual(at, { start: 13, end: 21, foreign: { ours: 8, size: 12 } })
        assert.strictEqual(fs.readFileSync(file, "utf8"), '{"a":1}\n{"to\n{"b":2}\n')
      })
    )
  )
})

describe("a file that is moved or removed under the writer", () => {
  it.effect("nothing goes to a file that was removed", () =>
    withFiles((port, file, projects) =>
      Effect.gen(function* () {
        yield* port.append(log, bytes('{"a":1}\n'))
        fs.rmSync(projects, { recursive: true })
        yield* port.append(log, bytes('{"b":2}\n'))
        assert.strictEqual(fs.readFileSync(file, "utf8"), '{"b":2}\n')
        assert.deepStrictEqual([file, path.dirname(file), projects].map(modeOf), ["600", "700", "700"])
      })
    )
  )

  it.effect("nothing goes to a file that was moved away", () =>
    withFiles((port, file) =>
      Effect.gen(function* () {
        yield* port.append(log, bytes('{"a":1}\n'))
        fs.renameSync(file, `${file}.old`)
        yield* port.append(log, bytes('{"b":2}\n'))
        assert.strictEqual(fs.readFileSync(`${file}.old`, "utf8"), '{"a":1}\n')
        assert.strictEqual(fs.readFileSync(file, "utf8"), '{"b":2}\n')
      })
    )
  )
})

describe("descriptors", () => {
  const opened = () => fs.readdirSync("/proc/self/fd").length

  it.effect.skipIf(!fs.existsSync("/proc/self/fd"))(
    "no more are kept than allowed, and all are closed with the layer",
    () =>
      Effect.gen(function* () {
        const before = opened()
        yield* withFiles(
          (port) =>
            Effect.gen(function* () {
              for (let round = 0; round < 2; round++) {
                for (let i = 0; i < 20; i++) yield* port.append(EntryLog.session("-w", `s${i}`), bytes("{}\n"))
              }
              assert.isAtMost(opened() - before, 4)
              for (let i = 0; i < 20; i++) {
                assert.strictEqual((yield* port.stat(EntryLog.session("-w", `s${i}`))).size, 6)
              }
            }),
          { maxOpen: 3 }
        )
        assert.isAtMost(opened(), before)
      })
  )

  it.effect("a log may be released while it is being synced", () =>
    withFiles((port) =>
      Effect.gen(function* () {
        yield* port.append(log, bytes("{}\n"))
        yield* Effect.all([port.sync(log), port.release(log), port.append(log, bytes("{}\n"))], { concurrency: 3 })
        assert.strictEqual((yield* port.stat(log)).size, 6)
      })
    )
  )
})

describe("errors", () => {
  it.effect.skipIf(!fs.existsSync("/dev/full"))("a full device is NoSpace, and nothing counts as written", () =>
    withFiles((port) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(port.append(EntryLog.at("/dev/full"), bytes("{}\n")))
        assert.deepStrictEqual([error.operation, error.reason, error.written], ["append", "NoSpace", 0])
        assert.include(error.message, "ENOSPC")
      })
    )
  )

  it.effect("a file where a directory should be is NotFound", () =>
    withFiles((port, _, projects) =>
      Effect.gen(function* () {
        fs.mkdirSync(path.dirname(projects), { recursive: true })
        fs.writeFileSync(projects, "")
        const error = yield* Effect.flip(port.append(log, bytes("{}\n")))
        assert.deepStrictEqual([error.operation, error.reason], ["append", "NotFound"])
      })
    )
  )
})

describe("projects", () => {
  it.effect("a directory has one project, through a symlink or not", () =>
    withFiles((port) =>
      Effect.gen(function* () {
        const made = fs.realpathSync(yield* Temporary.directory)
        fs.mkdirSync(path.join(made, "real"))
        fs.symlinkSync(path.join(made, "real"), path.join(made, "link"))
        const project = yield* port.project(path.join(made, "real"))
        assert.strictEqual(yield* port.project(path.join(made, "link")), project)
        assert.strictEqual(yield* port.project(`${path.join(made, "link")}/`), project)
        assert.strictEqual(yield* port.project(path.join(made, "link", "new")), `${project}-new`)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("an absolute project is a directory of its own", () =>
    withFiles((port) =>
      Effect.gen(function* () {
        const made = yield* Temporary.directory
        yield* port.append(EntryLog.session(path.join(made, "own"), sessionId), bytes("{}\n"))
        assert.isTrue(fs.existsSync(path.join(made, "own", `${sessionId}.jsonl`)))
      }).pipe(Effect.scoped)
    )
  )

  it.effect("the default layer follows CLAUDE_CONFIG_DIR", () =>
    Effect.gen(function* () {
      const made = yield* Temporary.directory
      yield* EntryLog.EntryLog.use((port) => port.append(log, bytes("{}\n"))).pipe(
        Effect.provide(FileEntryLog.layer),
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ CLAUDE_CONFIG_DIR: made }))
      )
      assert.isTrue(fs.existsSync(path.join(made, "projects", "-w", `${sessionId}.jsonl`)))
    }).pipe(Effect.scoped)
  )
})

describe("listing", () => {
  const other = "00000000-0000-4000-8000-00000000000a"
  const hostile = (projects: string): string => {
    const folder = path.join(projects, "-w")
    const at = (name: string) => path.join(folder, name)
    fs.mkdirSync(at(`${other}/`), { recursive: true })
    fs.writeFileSync(at(`${other}.jsonl`), "{}\n")
    fs.writeFileSync(at(`${other}/archived.json`), '{"archived":true,"at":"2026-01-01T00:00:00.000Z"}')
    fs.writeFileSync(at("00000000-0000-4000-8000-00000000000b.jsonl"), "")
    fs.mkdirSync(at("00000000-0000-4000-8000-00000000000c.jsonl"))
    fs.symlinkSync(at(`${other}.jsonl`), at("00000000-0000-4000-8000-00000000000d.jsonl"))
    fs.symlinkSync(at("gone"), at("00000000-0000-4000-8000-00000000000e.jsonl"))
    fs.writeFileSync(at("notes\n\u001b[31m.jsonl"), "{}\n")
    fs.writeFileSync(at("agent-a1.jsonl"), "{}\n")
    fs.writeFileSync(at("readme.txt"), "")
    return folder
  }
  const seen = ({ logs, passed }: EntryLog.Listing) => ({
    logs: logs.map(({ archived, log, size }) => [
      (log as { readonly sessionId: string }).sessionId.slice(-1),
      size,
      archived
    ]),
    passed: passed.map(({ path: file, why }) => [path.basename(file, ".jsonl").slice(-1), why]).toSorted()
  })
  const expected = {
    logs: [
      ["a", 3, true],
      ["b", 0, false]
    ],
    passed: [
      ["1", "Name"],
      ["c", "Directory"],
      ["d", "Symlink"],
      ["e", "Symlink"],
      ["m", "Name"]
    ]
  }

  it.effect("tells of all that is named as logs are, and changes nothing", () =>
    withFiles((port, _, projects) =>
      Effect.gen(function* () {
        const folder = hostile(projects)
        const times = () => fs.readdirSync(folder).map((name) => fs.lstatSync(path.join(folder, name)).mtimeMs)
        const before = times()
        assert.deepStrictEqual(seen(yield* port.listing("-w")), expected)
        assert.deepStrictEqual(times(), before)
      })
    )
  )

  it.effect("the same over Effect's file system", () =>
    Effect.gen(function* () {
      const projects = path.join(yield* Temporary.directory, "projects")
      hostile(projects)
      const listing = EntryLog.EntryLog.use((port) => port.listing("-w"))
      const layer = FileEntryLog.layerFileSystem({ projects }).pipe(
        Layer.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))
      )
      assert.deepStrictEqual(seen(yield* Effect.provide(listing, layer)), expected)
    })
  )
})
