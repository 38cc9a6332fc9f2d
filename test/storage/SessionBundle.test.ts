import { assert, describe, it } from "@effect/vitest"
import * as SessionBundle from "@reprise/storage/SessionBundle"
import { Cause, Effect, Exit } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import { bundle, home, logIn, session, sessionId, tar } from "./bundled.ts"
import { linkless } from "./linkless.ts"

/** A session exported from one home, and another home to import it into. */
const moved = Effect.gen(function* () {
  const [from, to] = [yield* home, yield* home]
  const main = session(from)
  const file = path.join(from.root, "bundle.tar.gz")
  const manifest = yield* Effect.provide(SessionBundle.exportTo(main, file), from.layer)
  const read = (options: Partial<SessionBundle.ImportOptions> = {}, archive = file) =>
    Effect.provide(SessionBundle.importFrom(archive, { projects: to.projects, ...options }), to.layer)
  return { from, to, main, file, manifest, read }
})

/** An import of hostile bytes into an empty home. */
const hostile = Effect.fnUntraced(function* (bytes: Uint8Array, options: Partial<SessionBundle.ImportOptions> = {}) {
  const to = yield* home
  const file = path.join(to.root, "hostile.tar.gz")
  fs.writeFileSync(file, bytes)
  const error = yield* Effect.flip(
    Effect.provide(SessionBundle.importFrom(file, { projects: to.projects, ...options }), to.layer)
  )
  assert.deepStrictEqual(to.tree(), {})
  assert.deepStrictEqual(fs.readdirSync(to.root).toSorted(), ["config", "hostile.tar.gz"])
  assert.strictEqual(error._tag, "BundleError")
  return error.message
})

const main = { name: "session.jsonl", content: logIn("/old/work") }

describe("SessionBundle", () => {
  it.effect("takes a session with all that lies beside it to another home, byte for byte", () =>
    Effect.gen(function* () {
      const { from, manifest, read, to } = yield* moved
      const before = from.tree()
      const imported = yield* read()
      assert.deepStrictEqual(imported, {
        outcome: "imported",
        sessionId,
        path: path.join(to.projects, "-old-work", `${sessionId}.jsonl`),
        cwd: "/old/work",
        files: 5
      })
      assert.deepStrictEqual(to.tree(), before)
      assert.deepStrictEqual([manifest.cwd, manifest.files.length], ["/old/work", 5])
      assert.deepStrictEqual(fs.readdirSync(to.projects), ["-old-work"])
      assert.strictEqual(fs.statSync(imported.path).mode & 0o777, 0o600)
    }).pipe(Effect.scoped)
  )

  it.effect("leaves here how much of the session a remote has, and takes along what that does not take", () =>
    Effect.gen(function* () {
      const from = yield* home
      const main = session(from)
      from.put(`projects/-old-work/${sessionId}.jsonl.ingress`, "{}")
      from.put(`projects/-old-work/${sessionId}.jsonl.conflicts`, "{}")
      const file = path.join(from.root, "bundle.tar.gz")
      const { files } = yield* Effect.provide(SessionBundle.exportTo(main, file), from.layer)
      const names = files.map(({ name }) => name)
      assert.include(names, "session.jsonl.conflicts")
      assert.notInclude(names, "session.jsonl.ingress")
      const to = yield* home
      yield* Effect.provide(SessionBundle.importFrom(file, { projects: to.projects }), to.layer)
      assert.isTrue(fs.existsSync(path.join(to.projects, "-old-work", `${sessionId}.jsonl.conflicts`)))
      const member = { name: "session.jsonl.ingress", content: "{}" }
      assert.include(yield* hostile(zlib.gzipSync(tar([member]))), "expected a bundle")
    }).pipe(Effect.scoped)
  )

  it.effect("is a tar that others open, long names and all", () =>
    Effect.gen(function* () {
      const { file } = yield* moved
      const names = execFileSync("tar", ["tzf", file], { encoding: "utf8", env: { ...process.env, LC_ALL: "C.UTF-8" } })
      assert.sameMembers(
        names
          .replaceAll(/\\303\\251/g, "é")
          .trimEnd()
          .split("\n"),
        [
          "manifest.json",
          "session/subagents/agent-abc.jsonl",
          "session/subagents/agent-abc.meta.json",
          "session/tool-results/x.txt",
          `file-history/${"é".repeat(60)}@v1`,
          "session.jsonl"
        ]
      )
      assert.strictEqual(execFileSync("tar", ["xzOf", file, "session.jsonl"], { encoding: "utf8" }), logIn("/old/work"))
    }).pipe(Effect.scoped)
  )

  it.effect(
    "goes on in another directory: what lay in the old one lies in the new one, and no other byte changes",
    () =>
      Effect.gen(function* () {
        const [from, to] = [yield* home, yield* home]
        const odd = String.raw`{"cwd":"\/old/work","n":1.0,"t":"caf\u00e9 /old/work","cwd":"/old/work"}`
        const lines = [
          odd,
          '{"cwd":"/old/workshop"}',
          '{"cwd":"/old/work/a"}{"cwd":"/old/work"}',
          '{"worktreeSession":{"worktreePath":"/old/work/.w"}}',
          "torn",
          '{"cwd":"/old/work/sub"}'
        ]
        const main = session(from, sessionId, logIn("/old/work") + lines.join("\n"))
        const file = path.join(from.root, "bundle.tar.gz")
        yield* Effect.provide(SessionBundle.exportTo(main, file), from.layer)
        const cwd = path.join(to.root, "new")
        const { path: there } = yield* Effect.provide(
          SessionBundle.importFrom(file, { projects: to.projects, cwd }),
          to.layer
        )
        const expected = [
          String.raw`{"cwd":"${cwd}","n":1.0,"t":"caf\u00e9 /old/work","cwd":"${cwd}"}`,
          lines[1],
          lines[2],
          `{"worktreeSession":{"worktreePath":"${cwd}/.w"}}`,
          "torn",
          `{"cwd":"${cwd}/sub"}`
        ]
        assert.strictEqual(fs.readFileSync(there, "utf8"), logIn(cwd) + expected.join("\n"))
        assert.strictEqual(path.basename(path.dirname(there)), cwd.replaceAll(/[^A-Za-z0-9]/g, "-"))
        const result = path.join(path.dirname(there), sessionId, "tool-results", "x.txt")
        assert.strictEqual(fs.readFileSync(result, "utf8"), "/old/work stays here")
      }).pipe(Effect.scoped)
  )

  it.effect("comes from another system: its directory has that key here, its paths are written as paths are here", () =>
    Effect.gen(function* () {
      const from = String.raw`C:\Users\ada\work`
      const cwds = [
        from,
        String.raw`C:\Users\ada\work\src\a.ts`,
        "c:/users/Ada/work/src",
        String.raw`C:\Users\ada\workshop`
      ]
      const content = cwds
        .map((cwd) => `${JSON.stringify({ type: "user", cwd, message: { content: from } })}\n`)
        .join("")
      const to = yield* home
      const file = path.join(to.root, "bundle.tar.gz")
      fs.writeFileSync(file, bundle([{ name: "session.jsonl", content }], { cwd: from }))
      const read = (options: object) =>
        Effect.provide(SessionBundle.importFrom(file, { projects: to.projects, ...options }), to.layer)
      const kept = yield* read({})
      assert.strictEqual(path.basename(path.dirname(kept.path)), "C--Users-ada-work")
      assert.deepStrictEqual([kept.cwd, fs.readFileSync(kept.path, "utf8")], [from, content])
      const cwd = path.join(to.root, "new")
      const moved = fs
        .readFileSync((yield* read({ cwd: `${cwd}/` })).path, "utf8")
        .trimEnd()
        .split("\n")
      assert.deepStrictEqual(
        moved.map((line) => JSON.parse(line).cwd),
        [cwd, `${cwd}/src/a.ts`, `${cwd}/src`, cwds[3]]
      )
      for (const line of moved) assert.strictEqual(JSON.parse(line).message.content, from)
      const odd = yield* Effect.exit(read({ cwd: "\0" }))
      assert.isTrue(Exit.isFailure(odd) && Cause.hasFails(odd.cause))
    }).pipe(Effect.scoped)
  )

  it.effect("leaves nothing where one file is in the way of another", () =>
    Effect.gen(function* () {
      const conflict = bundle([{ name: "session/a", content: "x" }, { name: "session/a/b", content: "y" }, main])
      assert.match(yield* hostile(conflict), /found (a file in place of a folder|an error \(EEXIST\)) at /)
    }).pipe(Effect.scoped)
  )

  it.effect("twice is once, also when the session has gone on; one that differs stays as it is", () =>
    Effect.gen(function* () {
      const { read, to } = yield* moved
      const { path: there } = yield* read()
      const before = to.tree()
      assert.strictEqual((yield* read()).outcome, "already-there")
      assert.deepStrictEqual(to.tree(), before)
      fs.appendFileSync(there, "more\n")
      to.put(`projects/-old-work/${sessionId}/subagents/agent-abc.meta.json`, '{"finished":true}')
      const later = to.tree()
      assert.strictEqual((yield* read()).outcome, "already-there")
      assert.deepStrictEqual(to.tree(), later)
      fs.rmSync(path.join(to.projects, "-old-work", sessionId, "tool-results"), { recursive: true })
      assert.strictEqual((yield* read()).outcome, "imported")
      assert.deepStrictEqual(to.tree(), later)
      fs.writeFileSync(there, "another")
      assert.match((yield* Effect.flip(read())).message, /another file in its place: .*; nothing was changed$/)
      assert.strictEqual(fs.readFileSync(there, "utf8"), "another")
    }).pipe(Effect.scoped)
  )

  it.effect("does not write over a file, nor export what is no session", () =>
    Effect.gen(function* () {
      const { file, from, main } = yield* moved
      const before = fs.readFileSync(file)
      const fails = (log: string, to: string) =>
        Effect.map(Effect.flip(Effect.provide(SessionBundle.exportTo(log, to), from.layer)), ({ message }) => message)
      assert.match(yield* fails(main, file), /expected a new file for a bundle, found a file there already/)
      assert.match(yield* fails(main, from.root), /found a directory; name a file in it/)
      assert.match(yield* fails(main, path.join(from.root, "no", "b.tar.gz")), /found no directory .*; make it first/)
      assert.deepStrictEqual(fs.readFileSync(file), before)
      const other = path.join(from.root, "other.tar.gz")
      assert.match(
        yield* fails(from.put("notes.jsonl", "{}"), other),
        /whose id "notes" is no UUID; a fork of it has one/
      )
      assert.match(yield* fails(main.replace("b1.jsonl", "b2.jsonl"), other), /found no file; check the path/)
      assert.deepStrictEqual(fs.readdirSync(from.root).toSorted(), ["bundle.tar.gz", "config"])
    }).pipe(Effect.scoped)
  )

  it.effect("is made where there are no links, as on a stick", () =>
    Effect.gen(function* () {
      const { from, main } = yield* moved
      yield* linkless
      const other = path.join(from.root, "other.tar.gz")
      const exported = Effect.provide(SessionBundle.exportTo(main, other), from.layer)
      yield* exported
      assert.strictEqual((yield* SessionBundle.verify(other)).sessionId, sessionId)
      assert.match((yield* Effect.flip(exported)).message, /a file there already/)
      assert.deepStrictEqual(fs.readdirSync(from.root).toSorted(), ["bundle.tar.gz", "config", "other.tar.gz"])
    }).pipe(Effect.scoped)
  )

  it.effect("is refused where it is no file, and nothing is made for it", () =>
    Effect.gen(function* () {
      const { layer, projects, root } = yield* home
      const pipe = path.join(root, "pipe")
      assert.strictEqual(spawnSync("mkfifo", [pipe]).status, 0)
      for (const [file, found] of [
        [path.join(root, "none"), /found no file; check the path/],
        [root, /found a directory; name the archive in it/],
        [pipe, /found no regular file/],
        ["/dev/zero", /found no regular file/],
        ["\0", /an error \(ERR_INVALID_ARG_VALUE\)/]
      ] as const) {
        const refused = yield* Effect.flip(Effect.provide(SessionBundle.importFrom(file, { projects }), layer))
        assert.match(refused.message, found)
        assert.match((yield* Effect.flip(SessionBundle.verify(file))).message, found)
      }
      assert.deepStrictEqual(fs.readdirSync(root), ["pipe"])
      const [file, inTheWay] = ["bundle", "projects"].map((name) => path.join(root, name)) as [string, string]
      fs.writeFileSync(file, bundle([main]))
      fs.writeFileSync(inTheWay, "")
      const nowhere = yield* Effect.flip(Effect.provide(SessionBundle.importFrom(file, { projects: inTheWay }), layer))
      assert.match(nowhere.message, /found a file in place of a folder at \S+projects\S+; check the path/)
    }).pipe(Effect.scoped)
  )

  it.effect("is refused wherever it was cut, and where another one is behind it", () =>
    Effect.gen(function* () {
      const whole = bundle([{ name: "session/x", content: "x" }, main])
      for (let end = 0; end < whole.length; end++) yield* hostile(whole.subarray(0, end))
      assert.match(yield* hostile(Buffer.concat([whole, whole])), /more behind the end of the archive/)
      const plain = zlib.gunzipSync(whole)
      assert.match(yield* hostile(Buffer.concat([plain, Buffer.alloc(100_000), Buffer.from("x")])), /more behind/)
    }).pipe(Effect.scoped)
  )

  it.effect("refuses names that lead elsewhere, links, devices and folders", () =>
    Effect.gen(function* () {
      const names = [
        "../evil.jsonl",
        "/etc/evil",
        "session/../../evil",
        "session/./x",
        "session//x",
        String.raw`session/..\evil`,
        "session/",
        "session",
        "file-history/../../x",
        "agents/evil.sh",
        "agents/../agent-x.jsonl",
        "agents/a/agent-x.jsonl",
        "C:/evil",
        "other.jsonl"
      ]
      for (const name of names) {
        assert.match(
          yield* hostile(bundle([{ name, content: "x" }, main])),
          /a name that no file of a session has/,
          name
        )
      }
      for (const type of ["1", "2", "3", "4", "5", "6", "L", "g"]) {
        const link = { name: "session/x", type, link: "/etc/passwd" }
        assert.match(yield* hostile(bundle([link, main])), /no regular file/, type)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("refuses what its manifest does not announce, what is torn, and what is no bundle", () =>
    Effect.gen(function* () {
      const extra = { name: "session/x", content: "x" }
      const announced = (content: string) => bundle([{ ...main, content }])
      const other = zlib.gunzipSync(announced("aa"))
      other.write("ab", other.lastIndexOf("aa"), "latin1")
      assert.match(yield* hostile(zlib.gzipSync(other)), /differs from its digest: "session.jsonl"/)
      assert.match(yield* hostile(bundle([extra, main], { files: [] })), /does not announce so: "session\/x"/)
      assert.match(yield* hostile(bundle([extra])), /not all files/)
      assert.match(yield* hostile(bundle([main, extra])), /not all files/)
      assert.match(yield* hostile(bundle([main, main])), /two files of one name/)
      assert.match(yield* hostile(bundle([main], { sessionId: "../x" })), /a manifest of another kind/)
      assert.match(yield* hostile(bundle([main], { version: 2 })), /a bundle of version 2; this is for version 1/)
      assert.match(yield* hostile(bundle([main], { cwd: null })), /a session of no directory; name one/)
      assert.match(yield* hostile(bundle([main], { cwd: "" })), /a session of no directory; name one/)
      assert.match(yield* hostile(tar([main])), /no manifest at its beginning/)
      assert.match(yield* hostile(tar([{ name: "manifest.json", content: "{" }])), /a manifest that is no JSON/)
      assert.match(yield* hostile(new Uint8Array(0)), /found no archive, or one that is broken/)
      assert.match(yield* hostile(Buffer.alloc(2000, 1)), /found no archive/)
      const whole = bundle([main])
      assert.match(yield* hostile(zlib.gunzipSync(whole).subarray(0, -1600)), /ends in the middle/)
      assert.match(yield* hostile(whole.subarray(0, -20)), /broken \(Z_BUF_ERROR\)/)
    }).pipe(Effect.scoped)
  )

  it.effect("refuses more bytes than are allowed, without unpacking them", () =>
    Effect.gen(function* () {
      const bomb = bundle([{ name: "session/x", content: "\0".repeat(4_000_000) }, main])
      assert.isBelow(bomb.length, 20_000)
      assert.match(
        yield* hostile(bomb, { maxBytes: 1_000_000 }),
        /more than 1000000 bytes; allow more where it is trusted/
      )
    }).pipe(Effect.scoped)
  )

  it.effect("does not write through a link that lies in its way", () =>
    Effect.gen(function* () {
      const { read, to } = yield* moved
      const elsewhere = path.join(to.root, "elsewhere")
      fs.mkdirSync(elsewhere)
      fs.mkdirSync(path.join(to.projects, "-old-work"), { recursive: true })
      fs.symlinkSync(elsewhere, path.join(to.projects, "-old-work", sessionId))
      assert.match((yield* Effect.flip(read())).message, /a link in its way/)
      assert.deepStrictEqual(fs.readdirSync(elsewhere), [])
    }).pipe(Effect.scoped)
  )
})
