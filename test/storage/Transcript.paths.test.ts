/** Which session a directory and an id lead to. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const sessionId = "00000000-0000-4000-8000-000000000001"

/** A directory with `projects` in it, and `open`, which records a prompt there. */
const place = Effect.map(Temporary.directory, (made) => {
  const root = fs.realpathSync.native(made)
  const projects = path.join(root, "projects")
  const layer = SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layerWith({ projects })))
  const open = (cwd: string) =>
    Effect.gen(function* () {
      const transcript = yield* Transcript.open({ sessionId, cwd, version: "2.1.0" })
      const before = yield* transcript.tail
      yield* transcript.append(Message.user("x"))
      return { before, file: path.relative(projects, EntryLog.pathOf(projects, transcript.log)) }
    }).pipe(Effect.scoped, Effect.provide(layer))
  return { root, projects, layer, open }
})

describe("a directory and its sessions", () => {
  it.effect("any spelling finds them: symlink, trailing slash, dots", () =>
    Effect.gen(function* () {
      const { open, root } = yield* place
      const directory = path.join(root, "my.app")
      fs.mkdirSync(directory)
      fs.symlinkSync("my.app", path.join(root, "link"))
      const { file } = yield* open(directory)
      for (const spelling of [`${directory}/`, `${directory}/.`, path.join(root, "link"), `${root}/link/../my.app//`]) {
        const again = yield* open(spelling)
        assert.strictEqual(again.file, file)
        assert.isNotNull(again.before)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("a change of directory is stamped, and moves neither the log nor the session", () =>
    Effect.gen(function* () {
      const { layer, open, projects, root } = yield* place
      const [home, elsewhere] = [path.join(root, "home"), path.join(root, "elsewhere")]
      for (const directory of [home, elsewhere]) fs.mkdirSync(directory)
      yield* Effect.gen(function* () {
        const transcript = yield* Transcript.open({ sessionId, cwd: home, version: "2.1.0" })
        yield* transcript.append(Message.user("x"))
        yield* transcript.append(Message.user("x"), { cwd: elsewhere })
        yield* transcript.append(Message.user("x"), { agentId: "a1", subPath: ["workflows"], cwd: elsewhere })
        yield* transcript.append(Message.user("x"))
      }).pipe(Effect.scoped, Effect.provide(layer))
      const { before, file } = yield* open(home)
      assert.isNotNull(before)
      const lines = fs.readFileSync(path.join(projects, file), "utf8").trimEnd().split("\n")
      assert.deepStrictEqual(
        lines.map((line) => JSON.parse(line).cwd),
        [home, elsewhere, home, home]
      )
      assert.deepStrictEqual(fs.readdirSync(projects), [ProjectPath.keyOf(home)])
      assert.isNull((yield* open(elsewhere)).before)
    }).pipe(Effect.scoped)
  )

  it.effect("two directories never share a session, also where their keys are the same", () =>
    Effect.gen(function* () {
      const { open, root } = yield* place
      for (const name of ["a.b", "a-b"]) fs.mkdirSync(path.join(root, name))
      yield* open(path.join(root, "a.b"))
      const refused = yield* Effect.flip(open(path.join(root, "a-b")))
      assert(refused._tag === "AppendError")
      assert.deepStrictEqual([refused.reason, refused.what], ["other-directory", path.join(root, "a.b")])
      yield* open(path.join(root, "a.b"))
    }).pipe(Effect.scoped)
  )

  it.effect("composed and decomposed names are two directories where the file system says so", () =>
    Effect.gen(function* () {
      const { open, root } = yield* place
      const [composed, decomposed] = [path.join(root, "\u00e9"), path.join(root, "e\u0301")]
      fs.mkdirSync(composed)
      if (fs.existsSync(decomposed)) {
        yield* open(composed)
        assert.isNotNull((yield* open(decomposed)).before)
      } else {
        fs.mkdirSync(decomposed)
        yield* open(composed)
        assert.isNull((yield* open(decomposed)).before)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("names that differ in case are two directories where the file system says so", () =>
    Effect.gen(function* () {
      const { open, root } = yield* place
      const [lower, upper] = [path.join(root, "shop"), path.join(root, "SHOP")]
      fs.mkdirSync(lower)
      const folds = fs.existsSync(upper)
      if (!folds) fs.mkdirSync(upper)
      const { file } = yield* open(lower)
      const again = yield* open(upper)
      assert.deepStrictEqual([again.file === file, again.before !== null], [folds, folds])
    }).pipe(Effect.scoped)
  )

  it.effect("of a long path, a folder with another hash is found; a new session goes where it belongs", () =>
    Effect.gen(function* () {
      const { open, projects, root } = yield* place
      const directory = path.join(root, ...Array.from({ length: 5 }, () => "x".repeat(50)))
      fs.mkdirSync(directory, { recursive: true })
      const key = ProjectPath.keyOf(directory)
      assert.isAbove(key.length, 200)
      assert.strictEqual((yield* open(directory)).file, path.join(key, `${sessionId}.jsonl`))
      const other = `${key.slice(0, 200)}-other`
      fs.renameSync(path.join(projects, key), path.join(projects, other))
      const again = yield* open(directory)
      assert.strictEqual(again.file, path.join(other, `${sessionId}.jsonl`))
      assert.isNotNull(again.before)
    }).pipe(Effect.scoped)
  )

  it("a folder is of a key by its first 200 units, where the key was cut", () => {
    const key = ProjectPath.keyOf(`/home/${"x".repeat(300)}`)
    assert.isTrue(ProjectPath.isFolderOf(key, key))
    assert.isTrue(ProjectPath.isFolderOf(key, `${key.slice(0, 200)}-zz9`))
    assert.isFalse(ProjectPath.isFolderOf(key, key.slice(0, 200)))
    assert.isFalse(ProjectPath.isFolderOf(key, `y${key.slice(1)}`))
    assert.isFalse(ProjectPath.isFolderOf("-a", "-a-b"))
    assert.deepStrictEqual(ProjectPath.spellings("/\u00e9"), ["/\u00e9", "/e\u0301"])
    assert.deepStrictEqual(ProjectPath.spellings("/a"), ["/a"])
  })
})

describe("a file that no session names", () => {
  const opened = (file: string, options: { readonly lock?: boolean } = {}) =>
    Transcript.open({ sessionId, cwd: "/tmp", version: "2.1.0", log: EntryLog.at(file), ...options })

  it.effect("is left as it is, and opened by nobody, where it holds no entry of a transcript", () =>
    Effect.gen(function* () {
      const { layer, root } = yield* place
      const file = path.join(root, "notes.md")
      fs.writeFileSync(file, "# notes\nmilk", { mode: 0o644 })
      for (const lock of [true, false]) {
        const error = yield* Effect.flip(Effect.scoped(Effect.provide(opened(file, { lock }), layer)))
        assert.deepInclude(error, { _tag: "AppendError", reason: "not-transcript", what: file })
      }
      const annotating = Transcript.annotate(EntryLog.at(file), Metadata.tag("x"))
      assert.deepInclude(yield* Effect.flip(Effect.provide(annotating, layer)), { reason: "not-transcript" })
      assert.strictEqual(fs.readFileSync(file, "utf8"), "# notes\nmilk")
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o644)
      assert.deepStrictEqual(fs.readdirSync(root), ["notes.md"])
    }).pipe(Effect.scoped)
  )

  it.effect("is opened where it is new, empty, torn in its first line, or holds an entry behind damage", () =>
    Effect.gen(function* () {
      const { layer, root } = yield* place
      const texts = [undefined, "", '{"type":"us', '# notes\n{"type":"tag","tag":"x"}\n']
      for (const [i, text] of texts.entries()) {
        const file = path.join(root, `${i}.jsonl`)
        if (text !== undefined) fs.writeFileSync(file, text)
        yield* Effect.gen(function* () {
          const transcript = yield* opened(file)
          yield* transcript.append(Message.user("x"))
        }).pipe(Effect.scoped, Effect.provide(layer))
        assert.include(fs.readFileSync(file, "utf8"), '"type":"user"')
      }
    }).pipe(Effect.scoped)
  )
})
