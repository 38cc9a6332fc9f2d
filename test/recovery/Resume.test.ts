/** What a plan holds, and what is called, in which order, when it is loaded and adopted. */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as SessionSource from "@reprise/domain/SessionSource"
import * as ForkPlan from "@reprise/recovery/ForkPlan"
import type * as Host from "@reprise/recovery/Host"
import * as Resume from "@reprise/recovery/Resume"
import type { ResumePlan } from "@reprise/recovery/ResumePlan"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionFork from "@reprise/storage/SessionFork"
import * as StoredSessionSource from "@reprise/storage/StoredSessionSource"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Metric, type Scope } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Child from "../storage/child.ts"
import { beside, greeting, id, logOf, make, owned, shared } from "./hosting.ts"

const asked = ["PlanStore.copy", "FileHistoryStore.copy", "SessionStartHooks.run"]

const texts = (
  messages: ReadonlyArray<{ readonly role: string; readonly parts: ReadonlyArray<{ readonly block: object }> }>
) =>
  messages.map(
    ({ parts, role }) => `${role}: ${parts.map(({ block }) => (block as { text?: string }).text ?? "…").join(" | ")}`
  )

it("what each asks for, and what it fails with, is in the types", () => {
  type Source = SessionSource.SessionSource
  const load: Effect.Effect<ResumePlan, Resume.ResumeError, Source | Host.Loading> = Resume.load(
    SessionSource.latest("/work")
  )
  const adopt: (
    plan: ResumePlan
  ) => Effect.Effect<Resume.Resumed, Resume.ResumeError, Source | Host.Adopting | Scope.Scope> = Resume.adopt
  assert.isTrue(Effect.isEffect(Effect.flatMap(load, adopt)))
})

describe("Resume.load", () => {
  it.live("goes through its steps in the order of the seed, and asks the host in that order", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const file = host.log(id(2), logOf(id(2), "u1-a1", Object.values(beside)))
      yield* Effect.gen(function* () {
        const plan = yield* Resume.load(SessionSource.path(file))
        assert.deepStrictEqual(host.watched.calls, ["SessionSource.resolve", "SessionSource.read", ...asked])
        assert.deepStrictEqual(
          plan.steps.map(({ name }) => name),
          [
            "resolve",
            "complete",
            "recover",
            "copy-plan",
            "copy-file-history",
            "consistency",
            "skills",
            "messages",
            "hooks"
          ]
        )
        assert.deepStrictEqual(host.state.session, undefined)
      }).pipe(Effect.provide(host.context))
    })
  )

  it.live("finds the same session as the latest, by its id, by its path, from a list and from its entries", () =>
    Effect.gen(function* () {
      const host = yield* make()
      host.log(id(1), logOf(id(1), "u1:1-a1:2"))
      const file = host.log(id(2), logOf(id(2), "u1:10-a1:20", [beside.title]))
      yield* Effect.gen(function* () {
        const entries = Line.decodeAll(fs.readFileSync(file))
        const sources = [
          SessionSource.latest("/work"),
          SessionSource.id(id(2)),
          SessionSource.path(file),
          SessionSource.loaded({ path: file }),
          SessionSource.loaded({ path: file, entries })
        ]
        for (const source of sources) {
          host.watched.calls.length = 0
          const plan = yield* Resume.load(source)
          assert.deepStrictEqual([plan.sessionId, plan.place.path, plan.metadata.title], [id(2), file, "Fix the lamp"])
          assert.deepStrictEqual(texts(plan.messages), ["user: [u1]", "assistant: [a1]"])
          const isHeld = source._tag === "Loaded" && source.entries !== undefined
          assert.strictEqual(host.watched.calls.includes("SessionSource.read"), !isHeld)
          assert.strictEqual(plan.steps[1]?.outcome, isHeld ? "unchanged" : "done")
        }
      }).pipe(Effect.provide(host.context))
    })
  )

  it.live("gives the plan all that the log says of what stands beside the conversation", () =>
    Effect.gen(function* () {
      const host = yield* make()
      host.write(`file-history/${id(2)}/a@v1`, "before")
      const { commit: _, ...others } = beside
      const file = host.log(id(2), logOf(id(2), "u1-a1(A)-rA", Object.values(others)))
      yield* Effect.gen(function* () {
        const plan = yield* Resume.load(SessionSource.path(file))
        assert.deepStrictEqual(plan.agent, { setting: "reviewer", name: "Ada" })
        assert.deepStrictEqual(plan.modes, { mode: "normal", permissionMode: "plan" })
        assert.strictEqual(plan.worktree?.worktreePath, "/trees/lamp")
        assert.strictEqual(plan.cost?.totalCostUSD, 1.5)
        assert.deepStrictEqual([...plan.fileHistory[0]!.backups.keys()], ["/w/a.ts", "/w/new.ts"])
        assert.strictEqual(plan.attribution[0]?.messageId, "u1")
        assert.strictEqual(plan.replacements.get("")?.get("A"), "short")
        assert.deepStrictEqual(plan.collapse.staged?.staged, [])
        assert.deepStrictEqual(plan.interruption, { kind: "interrupted-turn", uuid: "rA" })
        assert.strictEqual(texts(plan.messages).at(-1), "user: … | Continue from where you left off.")
        assert.deepStrictEqual(plan.findings, [])
        assert.strictEqual(plan.size, fs.statSync(file).size)
      }).pipe(Effect.provide(host.context))
    })
  )

  it.live("says to the model what the hooks say, behind all else, and writes nothing", () =>
    Effect.gen(function* () {
      const started: Array<unknown> = []
      const host = yield* make({
        hooks: (start) => {
          started.push(start)
          return [greeting, Message.user("Read the notes."), Message.system("informational", { content: "unsaid" })]
        }
      })
      const file = host.log(id(2), logOf(id(2), "u1-a1"))
      yield* Effect.gen(function* () {
        const plan = yield* Resume.load(SessionSource.path(file))
        const [last] = texts(plan.messages).slice(-1)
        assert.match(last!, /^user: .*It is Tuesday\..* \| Read the notes\.$/s)
        assert.strictEqual(plan.hooks.length, 3)
        yield* Resume.load(SessionSource.path(file), { fork: true })
        const session = { sessionId: id(2), path: file }
        assert.deepStrictEqual(started, [
          { ...session, source: "resume" },
          { ...session, source: "fork" }
        ])
        assert.strictEqual(fs.readFileSync(file, "utf8"), logOf(id(2), "u1-a1"))
      }).pipe(Effect.provide(host.context))
    })
  )

  it.live("brings plan and backups to a session that goes on under another id, and moves nothing else", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const log = logOf(id(1), "u1-a1", [beside.files])
      host.write(`plans/${id(1)}.md`, "1. lamp")
      host.write(`file-history/${id(1)}/a@v1`, "before")
      const [old, renamed] = [host.log(id(1), log), host.log(id(2), log)]
      const forked = { forkedFrom: { sessionId: id(1), messageUuid: "a1" } }
      const fork = host.log(id(3), logOf(id(3), "u1-a1", [beside.files], forked))
      yield* Effect.gen(function* () {
        const outcomes = (plan: { readonly steps: ReadonlyArray<{ readonly outcome: string }> }) =>
          plan.steps.slice(3, 5).map(({ outcome }) => outcome)
        assert.deepStrictEqual(outcomes(yield* Resume.load(SessionSource.path(old))), ["unchanged", "unchanged"])
        for (const [file, sessionId, isFork] of [
          [renamed, id(2), false],
          [fork, id(3), true]
        ] as const) {
          const plan = yield* Resume.load(SessionSource.path(file), { fork: isFork })
          assert.deepStrictEqual([plan.sessionId, plan.findings], [sessionId, []])
          assert.deepStrictEqual(outcomes(plan), ["done", "done"])
          assert.strictEqual(host.read(`plans/${sessionId}.md`), "1. lamp")
          assert.strictEqual(host.read(`file-history/${sessionId}/a@v1`), "before")
          assert.deepStrictEqual(outcomes(yield* Resume.load(SessionSource.path(file))), ["unchanged", "unchanged"])
        }
      }).pipe(Effect.provide(host.context))
    })
  )

  it.live("writes a plan that is gone from its last text, and tells of backups that are gone", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const picture = logOf(id(2), "u1-a1", [beside.files], { slug: "lamp" })
      const told = picture.replace('"type":"user"', '"planContent":"1. lamp","type":"user"')
      const [file, silent] = [host.log(id(2), told), host.log(id(3), picture.replaceAll(id(2), id(3)))]
      yield* Effect.gen(function* () {
        const plan = yield* Resume.load(SessionSource.path(file))
        assert.strictEqual(host.read(`plans/${id(2)}.md`), "1. lamp")
        const missing = (findings: typeof plan.findings) =>
          findings.map((one) => (one.kind === "host-missing" ? `${one.what} ${one.name}` : one.kind))
        assert.deepStrictEqual(missing(plan.findings), ["backup a@v1"])
        const { findings } = yield* Resume.load(SessionSource.path(silent))
        assert.deepStrictEqual(missing(findings), ["plan lamp", "backup a@v1"])
      }).pipe(Effect.provide(host.context))
    })
  )

  it.live("names the session by its file, else by its leaf, else anew", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const byLeaf = host.write("elsewhere/copy.jsonl", logOf(id(4), "u1-a1"))
      const unnamed = host.write("elsewhere/nameless.jsonl", logOf("somebody", "u1-a1"))
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* Resume.load(SessionSource.path(byLeaf))).sessionId, id(4))
        const plan = yield* Resume.load(SessionSource.path(unnamed))
        assert.match(plan.sessionId, /^[\da-f]{8}-/)
        assert.deepInclude(plan.findings.at(-1), { kind: "session-unnamed", sessionId: plan.sessionId })
      }).pipe(Effect.provide(host.context))
    })
  )

  it.live("reads no more of a compacted log than is asked for, with the same messages", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const picture = "u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3"
      const file = host.log(id(2), logOf(id(2), picture, [beside.title]))
      yield* Effect.gen(function* () {
        const whole = yield* Resume.load(SessionSource.path(file))
        assert.isUndefined(whole.state.extent.partial)
        for (const history of ["suffix", "metadata"] as const) {
          const part = yield* Resume.load(SessionSource.path(file), { history })
          assert.strictEqual(part.state.extent.partial?.history, history)
          assert.deepStrictEqual(part.messages, whole.messages)
          assert.strictEqual(part.sessionId, whole.sessionId)
        }
        const { hasMoved, session } = yield* Resume.adopt(
          yield* Resume.load(SessionSource.path(file), { history: "suffix" })
        )
        assert.deepStrictEqual([hasMoved, yield* session.tail], [false, "a3"])
      }).pipe(Effect.scoped, Effect.provide(host.context))
    })
  )

  it.live("tells of drift as a finding and a metric, and goes on", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const counted = '"subtype":"turn_duration","messageCount":7'
      const file = host.log(id(2), logOf(id(2), "u1-a1-s1").replace(/"subtype":"[^"]*"/, counted))
      yield* Effect.gen(function* () {
        const before = (yield* Metric.value(Resume.drift)).count
        const plan = yield* Resume.load(SessionSource.path(file))
        assert.deepStrictEqual(plan.drift, [{ uuid: "s1", expected: 7, found: 2 }])
        assert.deepStrictEqual(
          plan.findings.map(({ kind }) => kind),
          ["drift"]
        )
        assert.strictEqual((yield* Metric.value(Resume.drift)).count, Number(before) + 1)
      }).pipe(Effect.provide(host.context))
    })
  )

  it.live("fails with what the source, or the host, failed with", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const file = host.log(id(2), logOf(id(2), "u1-a1"))
      yield* Effect.gen(function* () {
        const missing = yield* Effect.flip(Resume.load(SessionSource.id("00000000-0000-4000-8000-000000000003")))
        assert.deepStrictEqual([missing._tag, "near" in missing && missing.near], ["SessionNotFound", [id(2)]])
        for (const call of asked) {
          host.watched.fault = { call, how: "fail" }
          const failed = yield* Effect.flip(Resume.load(SessionSource.path(file)))
          assert.strictEqual(failed._tag, "HostFailed")
          assert.include(failed.message, `the host's ${call} failed: as the test asked`)
        }
      }).pipe(Effect.provide(host.context))
    })
  )
})

describe("Resume.adopt", () => {
  for (const isFork of [false, true]) {
    it.live(
      `asks the host in the order of the seed${isFork ? "; a fork leaves out what it does not take over" : ""}`,
      () =>
        Effect.gen(function* () {
          const host = yield* make()
          const file = host.log(id(2), logOf(id(2), "u1-a1-u2-a2", Object.values(beside)))
          yield* Effect.gen(function* () {
            const plan = yield* Resume.load(SessionSource.path(file), { fork: isFork })
            host.watched.calls.length = 0
            const { findings, hasMoved, session } = yield* Resume.adopt(plan)
            assert.deepStrictEqual(host.watched.calls, ["SessionSource.claim", ...(isFork ? [] : owned), ...shared])
            assert.deepStrictEqual([findings, hasMoved, host.watched.undone], [[], false, []])

            const { agent, collapse, cost, metadata, modes, recording, worktree } = host.state
            assert.deepStrictEqual(agent, { setting: "reviewer", name: "Ada" })
            assert.deepStrictEqual(modes, plan.modes)
            assert.strictEqual(worktree?.worktreePath, "/trees/lamp")
            assert.strictEqual(metadata?.customTitle, "Fix the lamp")
            assert.deepStrictEqual(collapse, plan.collapse)
            assert.strictEqual(collapse?.commits.length, 1)
            const of = isFork
              ? [undefined, "old.cast", undefined]
              : [{ sessionId: id(2), path: file }, `${id(2)}.cast`, plan.cost]
            assert.deepStrictEqual([host.state.session, recording, cost], of)

            yield* session.append(Message.user("go on"))
            yield* session.flush
            const [said] = Line.decodeAll(fs.readFileSync(file)).slice(-1)
            assert.deepInclude(said?.entry, { type: "user", parentUuid: "a2", sessionId: id(2), cwd: "/trees/lamp" })
          }).pipe(Effect.scoped, Effect.provide(host.context))
        })
    )
  }

  it.live("takes over a fork: its source keeps its bytes, plan and backups are those of the source", () =>
    Effect.gen(function* () {
      const host = yield* make({ session: { sessionId: id(9), path: "" } })
      host.write(`plans/${id(1)}.md`, "1. lamp")
      host.write(`file-history/${id(1)}/a@v1`, "before")
      const { commit: _, ...others } = beside
      const file = host.log(id(1), logOf(id(1), "u1-a1-u2-a2", Object.values(others)))
      const bytes = fs.readFileSync(file, "utf8")
      yield* Effect.gen(function* () {
        const { sessionId, from } = yield* Effect.scoped(
          SessionFork.fork(EntryLog.session("-work", id(1)), { plan: ForkPlan.projection() })
        )
        const plan = yield* Resume.load(SessionSource.id(sessionId), { fork: true })
        assert.deepStrictEqual([plan.sessionId, from.sessionId, plan.findings], [sessionId, id(1), []])
        const { session } = yield* Resume.adopt(plan)
        yield* session.append(Message.user("another way"))
        yield* session.flush
        assert.deepStrictEqual(
          [host.read(`plans/${sessionId}.md`), host.read(`file-history/${sessionId}/a@v1`)],
          ["1. lamp", "before"]
        )
        assert.strictEqual(host.state.session?.sessionId, id(9))
        assert.strictEqual(fs.readFileSync(file, "utf8"), bytes)
        const said = Line.decodeAll(fs.readFileSync(plan.place.path)).at(-1)?.entry
        assert.deepInclude(said, { type: "user", sessionId })
      }).pipe(Effect.scoped, Effect.provide(host.context))
    })
  )

  it.live("starts context collapse anew where the log has none, and leaves a worktree", () =>
    Effect.gen(function* () {
      const collapse = { commits: [], staged: undefined }
      const host = yield* make({ collapse, worktree: { worktreePath: "/trees/lamp" } })
      const file = host.log(id(2), logOf(id(2), "u1-a1"))
      yield* Effect.gen(function* () {
        yield* Resume.adopt(yield* Resume.load(SessionSource.path(file)))
        assert.include(host.watched.calls, "ContextCollapse.reset")
        assert.deepStrictEqual([host.state.collapse, host.state.worktree], [undefined, null])
      }).pipe(Effect.scoped, Effect.provide(host.context))
    })
  )

  it.live("falls back where agent and worktree are gone, with a finding each", () =>
    Effect.gen(function* () {
      const host = yield* make({ agents: new Set(), worktrees: new Set() })
      const file = host.log(id(2), logOf(id(2), "u1-a1", Object.values(beside)))
      yield* Effect.gen(function* () {
        const { findings, session } = yield* Resume.adopt(yield* Resume.load(SessionSource.path(file)), {
          cwd: "/home"
        })
        assert.deepStrictEqual(
          findings.map((one) => one.kind === "host-missing" && `${one.what} ${one.name}`),
          ["agent reviewer", "worktree /trees/lamp"]
        )
        yield* session.append(Message.user("go on"))
        const transcript = StoredSessionSource.transcriptOf(session)
        assert.isNull((yield* transcript!.metadata).worktree)
        yield* session.flush
        assert.deepInclude(Line.decodeAll(fs.readFileSync(file)).at(-1)?.entry, { cwd: "/home" })
      }).pipe(Effect.scoped, Effect.provide(host.context))
    })
  )

  it.live("takes what others set since the session was loaded, and says that they went on", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const file = host.log(id(2), logOf(id(2), "u1-a1", [beside.title]))
      yield* Effect.gen(function* () {
        const plan = yield* Resume.load(SessionSource.path(file))
        const titled = { type: "custom-title", customTitle: "Fix both lamps" }
        fs.appendFileSync(file, logOf(id(2), "u1-a1-u2-a2", [titled]).split("\n").slice(2).join("\n"))
        const { hasMoved, session } = yield* Resume.adopt(plan)
        assert.isTrue(hasMoved)
        assert.strictEqual(yield* session.tail, "a2")
        const transcript = StoredSessionSource.transcriptOf(session)
        assert.strictEqual((yield* transcript!.metadata).customTitle, "Fix both lamps")
      }).pipe(Effect.scoped, Effect.provide(host.context))
    })
  )

  it.live("binds the file at once: a title that is set before a message is kept", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const file = host.log(id(2), logOf(id(2), "u1-a1", [beside.title]))
      yield* Effect.gen(function* () {
        const { session } = yield* Resume.adopt(yield* Resume.load(SessionSource.path(file)))
        yield* session.record({ type: "tag", tag: "evening" })
      }).pipe(Effect.scoped, Effect.provide(host.context))
      assert.include(fs.readFileSync(file, "utf8"), '"tag":"evening"')
    })
  )

  it.live("goes on from the leaf that the plan was loaded with", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const file = host.log(id(2), logOf(id(2), "u1-a1-u2-a2 a1-u3-a3"))
      yield* Effect.gen(function* () {
        const plan = yield* Resume.load(SessionSource.path(file), { leaf: { uuid: "a2" } })
        const { hasMoved, session } = yield* Resume.adopt(plan)
        assert.deepStrictEqual([hasMoved, yield* session.tail], [false, "a2"])
      }).pipe(Effect.scoped, Effect.provide(host.context))
    })
  )

  it.live("fails, and changes nothing, when the log is gone by then", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const file = host.log(id(2), logOf(id(2), "u1-a1"))
      const before = { ...host.state }
      yield* Effect.gen(function* () {
        const plan = yield* Resume.load(SessionSource.path(file))
        fs.rmSync(file)
        const failed = yield* Effect.flip(Resume.adopt(plan))
        assert.deepStrictEqual([failed._tag, { ...host.state }], ["SourceFailed", before])
        assert.include(failed.message, `${file}: expected to adopt the log of a session, found: `)
        assert.isFalse(fs.existsSync(file))
      }).pipe(Effect.scoped, Effect.provide(host.context))
    })
  )

  it.live("changes nothing when another transcript has the session, and succeeds when that is closed", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const file = host.log(id(2), logOf(id(2), "u1-a1"))
      yield* Effect.gen(function* () {
        const plan = yield* Resume.load(SessionSource.path(file))
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* Transcript.open({ sessionId: id(2), cwd: path.resolve("/work"), version: "2.1.0" })
            host.watched.calls.length = 0
            assert.strictEqual((yield* Effect.flip(Resume.adopt(plan)))._tag, "SessionLocked")
            assert.deepStrictEqual(host.watched.calls, ["SessionSource.claim"])
          })
        )
        assert.isFalse((yield* Resume.adopt(plan)).hasMoved)
      }).pipe(Effect.scoped, Effect.provide(host.context))
    })
  )

  it.live("leaves a session to the process that has it, and goes on behind what that said", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const file = host.log(id(2), logOf(id(2), "u1-a1"))
      const before = { ...host.state }
      const program = new URL("../storage/session-child.ts", import.meta.url)
      const child = yield* Child.start(program, path.join(host.directory, "projects"))
      yield* Effect.gen(function* () {
        const plan = yield* Resume.load(SessionSource.path(file))
        yield* child.ask(`adopt ${id(2)}`)
        const locked = yield* Effect.flip(Resume.adopt(plan))
        assert.deepInclude(locked, { _tag: "SessionLocked", pid: child.pid })
        assert.deepStrictEqual({ ...host.state }, before)
        yield* child.ask(`append ${id(2)} 1 10 theirs`)
        yield* child.ask(`close ${id(2)}`)
        const { hasMoved, session } = yield* Resume.adopt(plan)
        assert.isTrue(hasMoved)
        yield* session.append(Message.user("ours"))
        yield* session.flush
        const [theirs, ours] = fs.readFileSync(file, "utf8").trimEnd().split("\n").slice(-2)
        assert.include(theirs, "theirs")
        assert.strictEqual(JSON.parse(ours!).parentUuid, JSON.parse(theirs!).uuid)
      }).pipe(Effect.scoped, Effect.provide(host.context))
    }).pipe(Effect.scoped)
  )
})
