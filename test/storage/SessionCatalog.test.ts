import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as SessionCatalog from "@reprise/storage/SessionCatalog"
import { Arbitrary, Effect, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { hash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const noon = Date.UTC(2026, 0, 1, 12)

interface Plan {
  readonly said?: string
  /** Seconds after noon; undefined: its lines have no time. */
  readonly at?: number
  /** Seconds from the last message to the last change. */
  readonly lag?: number
  readonly more?: object
  readonly lines?: ReadonlyArray<object>
}

const write = (projects: string, project: string, n: number, plan: Plan): string => {
  const { at, lag = 0, lines = [], more, said = `Prompt ${n}` } = plan
  const file = path.join(projects, project, `${idOf(n)}.jsonl`)
  const timestamp = at === undefined ? {} : { timestamp: new Date(noon + 1000 * at).toISOString() }
  const user = { type: "user", uuid: "u1", parentUuid: null, ...timestamp, message: { content: said }, ...more }
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, [user, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""))
  const changed = noon / 1000 + (at ?? 0) + lag
  fs.utimesSync(file, changed, changed)
  return file
}

const withProjects = <A, E>(use: (projects: string) => Effect.Effect<A, E, EntryLog.EntryLog>) =>
  Effect.flatMap(Temporary.directory, (directory) => {
    const projects = path.join(fs.realpathSync(directory), "projects")
    return Effect.provide(use(projects), FileEntryLog.layerWith({ projects }))
  })

const numberOf = ({ path: file }: { readonly path: string }): number => Number(path.basename(file, ".jsonl").slice(-12))
const numbers = ({ sessions }: SessionCatalog.Page): ReadonlyArray<number> => sessions.map(numberOf)

describe("the order", () => {
  it.effect("is that of the last messages, newest first, whatever was touched since", () =>
    withProjects((projects) =>
      Effect.gen(function* () {
        write(projects, "-a", 1, { at: 10, lag: 5000 })
        write(projects, "-a", 2, { at: 30 })
        write(projects, "-b", 3, { at: 20, lag: 100 })
        write(projects, "-b", 4, {})
        assert.deepStrictEqual(numbers(yield* SessionCatalog.list()), [2, 3, 1, 4])
        assert.deepStrictEqual(numbers(yield* SessionCatalog.list({ limit: 1 })), [2])
        assert.deepStrictEqual(numbers(yield* SessionCatalog.list({ order: "change" })), [1, 3, 2, 4])
      })
    )
  )

  const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
  const drawn = Arbitrary.array(
    Arbitrary.schema(Schema.Struct({ at: upTo(200), lag: upTo(9), touched: upTo(9), odd: upTo(60) })),
    { maxLength: 24 }
  )
  it.effect.prop(
    "any page is that part of the whole list",
    { drawn, offset: Arbitrary.schema(upTo(6)), limit: Arbitrary.schema(upTo(6)) },
    ({ drawn, limit, offset }) =>
      withProjects((projects) =>
        Effect.gen(function* () {
          const plans = drawn.map(({ at, lag, odd, touched }, n) => {
            const plan = { at, lag: odd === 0 ? -100 : touched === 0 ? 400 + lag : lag }
            write(projects, "-a", n, plan)
            return { n, ...plan }
          })
          // Where a clock is off, the file that shows it must be one of those that are read.
          const isOff = plans.some(({ lag }) => lag < 0)
          const expected = plans
            .toSorted((a, b) => b.at - a.at || b.at + b.lag - (a.at + a.lag) || a.n - b.n)
            .map(({ n }) => n)
          const page = yield* SessionCatalog.list({ offset, limit })
          if (isOff && page.read < plans.length) return
          assert.deepStrictEqual(numbers(page), expected.slice(offset, offset + limit))
          assert.strictEqual(page.more, expected.length > offset + limit)
        })
      ).pipe(Effect.scoped),
    { arbitrary: { runs: Number(process.env["RUNS"] ?? 60), seed: process.env["SEED"] ?? "pages" } }
  )

  it.effect("a page costs a page", () =>
    withProjects((projects) =>
      Effect.gen(function* () {
        for (let n = 0; n < 300; n++) write(projects, "-a", n, { at: 10 * n, lag: n % 7 })
        const page = yield* SessionCatalog.list({ limit: 20 })
        assert.deepInclude(page, { logs: 300, more: true })
        assert.strictEqual(page.sessions.length, 20)
        assert.isAtMost(page.read, 26)
      })
    )
  )

  it.effect("times that cannot be are not believed: then all is read", () =>
    withProjects((projects) =>
      Effect.gen(function* () {
        for (let n = 0; n < 40; n++) write(projects, "-a", n, { at: 10 * n, lag: -20 * n })
        const page = yield* SessionCatalog.list({ limit: 3 })
        assert.deepStrictEqual(numbers(page), [39, 38, 37])
        assert.strictEqual(page.read, 40)
      })
    )
  )
})

describe("filters", () => {
  it.effect("by tag, branch, text as people read it, origin, and whether it was put away", () =>
    withProjects((projects) =>
      Effect.gen(function* () {
        const tag = { type: "tag", tag: "web", sessionId: "s" }
        const title = { type: "custom-title", customTitle: "Caf\u00e9 page", sessionId: "s" }
        write(projects, "-a", 1, { at: 1, lines: [tag], said: "Slow\npages" })
        write(projects, "-a", 2, { at: 2, lines: [title], more: { gitBranch: "fix" } })
        write(projects, "-a", 3, { at: 3, more: { entrypoint: "sdk-ts" } })
        fs.mkdirSync(path.join(projects, "-a", idOf(3)))
        fs.writeFileSync(path.join(projects, "-a", idOf(3), "archived.json"), '{"archived":true}')
        const listed = (filter: SessionCatalog.Filter) => Effect.map(SessionCatalog.list(filter), numbers)
        assert.deepStrictEqual(yield* listed({ tag: "web" }), [1])
        assert.deepStrictEqual(yield* listed({ branch: "fix" }), [2])
        assert.deepStrictEqual(yield* listed({ text: "SLOW PAGES" }), [1])
        assert.deepStrictEqual(yield* listed({ text: "cafe\u0301" }), [2])
        assert.deepStrictEqual(yield* listed({ text: "page" }), [2, 1])
        assert.deepStrictEqual(yield* listed({ origin: "agent" }), [3])
        assert.deepStrictEqual(yield* listed({ archived: true }), [3])
        assert.deepStrictEqual(yield* listed({ archived: false, origin: "human" }), [2, 1])
        assert.deepStrictEqual(numbers(yield* SessionCatalog.list({ text: "page", limit: 1 })), [2])
      })
    )
  )
})

describe("what is passed by", () => {
  it.effect("is told with its reason, and hides nothing", () =>
    withProjects((projects) =>
      Effect.gen(function* () {
        const at = (n: number) => path.join(projects, "-a", `${idOf(n)}.jsonl`)
        write(projects, "-a", 1, { at: 1 })
        fs.writeFileSync(at(2), "")
        fs.writeFileSync(at(3), "\u0000\u0000\n[1]\n{\n")
        fs.mkdirSync(at(4))
        fs.symlinkSync(at(1), at(5))
        fs.symlinkSync(path.join(projects, "gone"), at(6))
        write(projects, "-a", 7, { at: 7, more: { isSidechain: true, agentId: "a1" } })
        fs.writeFileSync(path.join(projects, "-a", "notes\n.jsonl"), "{}\n")
        fs.writeFileSync(path.join(projects, "stray.jsonl"), "{}\n")
        fs.mkdirSync(path.join(projects, "-a", idOf(1), "subagents"), { recursive: true })
        fs.writeFileSync(path.join(projects, "-a", idOf(1), "subagents", "agent-a1.jsonl"), "{}\n")
        const page = yield* SessionCatalog.list()
        assert.deepStrictEqual(numbers(page), [1])
        assert.deepStrictEqual(
          page.passed.map(({ path: file, why }) => [path.basename(file).slice(-8), why]).toSorted(),
          [
            ["02.jsonl", "Empty"],
            ["03.jsonl", "NoEntry"],
            ["04.jsonl", "Directory"],
            ["05.jsonl", "Symlink"],
            ["06.jsonl", "Symlink"],
            ["07.jsonl", "Sidechain"],
            ["s\n.jsonl", "Name"]
          ]
        )
      })
    )
  )

  it.effect("one that cannot be read is told with its error", () =>
    withProjects((projects) =>
      Effect.gen(function* () {
        write(projects, "-a", 1, { at: 1 })
        const broken = write(projects, "-a", 2, { at: 2 })
        const port = yield* EntryLog.EntryLog
        const error = new EntryLog.EntryLogError({ operation: "read", path: broken, reason: "Denied" })
        const ends: typeof port.ends = (log, into) =>
          log._tag === "Session" && log.sessionId === idOf(2) ? Effect.fail(error) : port.ends(log, into)
        const listing: typeof port.listing = (project) =>
          project === "-b"
            ? Effect.fail(new EntryLog.EntryLogError({ operation: "list", path: "/b", reason: "Denied" }))
            : port.listing(project)
        fs.mkdirSync(path.join(projects, "-b"))
        const page = yield* Effect.provideService(SessionCatalog.list(), EntryLog.EntryLog, { ...port, ends, listing })
        assert.deepStrictEqual(numbers(page), [1])
        assert.deepStrictEqual(
          page.passed.map(({ error, path, why }) => [path, why, error?.reason]),
          [
            ["/b", "Unreadable", "Denied"],
            [broken, "Unreadable", "Denied"]
          ]
        )
      })
    )
  )

  it.effect("where there are no projects there are no sessions", () =>
    withProjects(() =>
      Effect.gen(function* () {
        const nothing = { sessions: [], more: false, passed: [], logs: 0, read: 0 }
        assert.deepStrictEqual(yield* SessionCatalog.list(), nothing)
        assert.deepStrictEqual(yield* SessionCatalog.list({ directory: "/no/such" }), nothing)
      })
    )
  )
})

describe("a directory", () => {
  it.effect("is listed with the worktrees of its repository, or without", () =>
    withProjects((projects) =>
      Effect.gen(function* () {
        const root = path.dirname(projects)
        const [main, linked, other] = ["main", "linked", "other"].map((name) => path.join(root, name)) as [
          string,
          string,
          string
        ]
        const git = (...args: ReadonlyArray<string>) =>
          execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.test", ...args], { stdio: "ignore" })
        git("init", main)
        git("-C", main, "commit", "--allow-empty", "-m", "First")
        fs.mkdirSync(other)
        fs.mkdirSync(path.join(main, "sub"))
        write(projects, ProjectPath.keyOf(main), 1, { at: 1 })
        write(projects, ProjectPath.keyOf(linked), 2, { at: 2 })
        write(projects, ProjectPath.keyOf(other), 3, { at: 3 })
        write(projects, ProjectPath.keyOf(path.join(main, "sub")), 4, { at: 4 })
        const listed = (directory: string, worktrees = true) =>
          Effect.map(SessionCatalog.list({ directory, worktrees }), numbers)
        assert.deepStrictEqual(yield* listed(main), [1])
        git("-C", main, "worktree", "add", linked)
        for (const directory of [main, linked]) assert.deepStrictEqual(yield* listed(directory), [2, 1])
        assert.deepStrictEqual(yield* listed(path.join(main, "sub")), [4, 2, 1])
        assert.deepStrictEqual(yield* listed(linked, false), [2])
        assert.deepStrictEqual(yield* listed(other), [3])
        fs.symlinkSync(main, path.join(root, "link"))
        assert.deepStrictEqual(yield* listed(path.join(root, "link")), [2, 1])
      })
    )
  )
})

describe("the index", () => {
  const setting = <A, E>(use: (projects: string, index: string) => Effect.Effect<A, E, EntryLog.EntryLog>) =>
    withProjects((projects) => {
      for (let n = 0; n < 5; n++) write(projects, "-a", n, { at: n })
      return use(projects, path.join(projects, "..", "cache", "index.json"))
    })
  const strip = (page: SessionCatalog.Page) => ({ ...page, read: 0 })

  it.effect("saves reading, and changes no answer", () =>
    setting((projects, index) =>
      Effect.gen(function* () {
        const plain = yield* SessionCatalog.list()
        const first = yield* SessionCatalog.list({ index })
        const second = yield* SessionCatalog.list({ index })
        assert.deepStrictEqual([plain.read, first.read, second.read], [5, 5, 0])
        for (const page of [first, second]) assert.deepStrictEqual(strip(page), strip(plain))
        assert.strictEqual(fs.statSync(index).mode & 0o777, 0o600)
        assert.deepStrictEqual(fs.readdirSync(path.dirname(index)), ["index.json"])
        assert.notInclude(fs.readdirSync(path.join(projects, "-a")), "index.json")
      })
    )
  )

  it.effect("a log that changed, came or went is noticed", () =>
    setting((projects, index) =>
      Effect.gen(function* () {
        yield* SessionCatalog.list({ index })
        write(projects, "-a", 1, { at: 1, said: "Another" })
        write(projects, "-a", 7, { at: 7 })
        fs.rmSync(path.join(projects, "-a", `${idOf(3)}.jsonl`))
        const page = yield* SessionCatalog.list({ index })
        assert.deepStrictEqual(strip(page), strip(yield* SessionCatalog.list()))
        assert.strictEqual(page.read, 2)
        assert.notInclude(fs.readFileSync(index, "utf8"), idOf(3))
      })
    )
  )

  it.effect("deleted, torn, edited or of another version it is as good as none", () =>
    setting((_, index) =>
      Effect.gen(function* () {
        const plain = strip(yield* SessionCatalog.list())
        const damage: ReadonlyArray<(text: string) => string | undefined> = [
          () => undefined,
          () => "",
          (text) => text.slice(0, -5),
          (text) => text.replace("Prompt 2", "Prompt 9"),
          (text) => text.replace(/"version":\d+/, '"version":0'),
          ...["[null]", "{}", '"x"', "7"].map((rows) => (text: string) => {
            const check = hash("sha1", rows)
            return `${JSON.stringify({ ...JSON.parse(text.split("\n")[0]!), check })}\n${rows}`
          })
        ]
        for (const change of damage) {
          yield* SessionCatalog.list({ index })
          const changed = change(fs.readFileSync(index, "utf8"))
          if (changed === undefined) fs.rmSync(index)
          else fs.writeFileSync(index, changed)
          const page = yield* SessionCatalog.list({ index })
          assert.deepStrictEqual(strip(page), plain)
          assert.strictEqual(page.read, 5)
        }
      })
    )
  )

  it.effect("where it cannot be written, the list says so and is whole", () =>
    setting((projects) =>
      Effect.gen(function* () {
        const inFile = path.join(projects, "-a", `${idOf(1)}.jsonl`, "index")
        // In a directory that has no place for new names, the system's own way to make several never ends.
        for (const index of [inFile, ...(process.platform === "linux" ? ["/proc/none/index"] : [])]) {
          const page = yield* SessionCatalog.list({ index })
          assert.strictEqual(page.sessions.length, 5)
          assert.isDefined(page.unindexed)
        }
      })
    )
  )
})

describe("listing", () => {
  it.effect("changes no byte and no time", () =>
    withProjects((projects) =>
      Effect.gen(function* () {
        for (let n = 0; n < 3; n++) write(projects, "-a", n, { at: n, lag: 50 })
        const all = () =>
          fs.readdirSync(projects, { recursive: true, encoding: "utf8" }).map((name) => {
            const { ctimeMs, mtimeMs, size } = fs.statSync(path.join(projects, name))
            return [name, size, mtimeMs, ctimeMs]
          })
        const before = all()
        yield* SessionCatalog.list()
        yield* SessionCatalog.list({ limit: 1 })
        assert.deepStrictEqual(all(), before)
      })
    )
  )

  it.effect("says how far it is", () =>
    withProjects((projects) =>
      Effect.gen(function* () {
        for (let n = 0; n < 120; n++) write(projects, "-a", n, { at: n })
        const heard: Array<SessionCatalog.Progress> = []
        yield* SessionCatalog.list({ watch: (progress) => Effect.sync(() => void heard.push(progress)) })
        assert.deepStrictEqual(heard, [
          { done: 0, total: 120 },
          { done: 50, total: 120 },
          { done: 100, total: 120 }
        ])
      })
    )
  )
})
