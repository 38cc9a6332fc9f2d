import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import { Arbitrary, Schema } from "effect"

/** Folds lines, as they would stand in a log. */
const fold = (...lines: ReadonlyArray<object>): SessionMetadata.SessionMetadata => {
  const log = new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  return Projection.fold(Projection.entries(SessionMetadata.projection), Line.decodeAll(log))
}

const sessionId = "s1"
const customTitle = (customTitle?: unknown) => ({ type: "custom-title", customTitle, sessionId })
const aiTitle = (aiTitle?: unknown) => ({ type: "ai-title", aiTitle, sessionId })
const lastPrompt = (lastPrompt?: unknown) => ({ type: "last-prompt", lastPrompt, leafUuid: "u1", sessionId })
const summary = (summary?: unknown, leafUuid = "x9") => ({ type: "summary", summary, leafUuid })
const taskSummary = (summary?: unknown) => ({ type: "task-summary", summary, sessionId })

let ids = 0
const user = (content: unknown, more: object = {}) => ({
  type: "user",
  uuid: `u${++ids}`,
  parentUuid: null,
  isSidechain: false,
  message: { content },
  ...more
})

describe("the title (FORMAT §6)", () => {
  const steps = [customTitle("custom"), aiTitle("generated"), lastPrompt("last"), summary("summary"), user("first")]
  const titles = ["custom", "generated", "last", "summary", "first"]

  it("is the custom title, else the generated one, else the last prompt, else the summary, else the first prompt", () => {
    for (const [i, title] of titles.entries()) {
      assert.strictEqual(fold(...steps.slice(i)).title, title)
      assert.strictEqual(fold(...steps.slice(i).toReversed()).title, title)
    }
    assert.notProperty(fold(), "title")
  })

  it("the last of a kind wins", () => {
    for (const make of [customTitle, aiTitle, lastPrompt, summary, taskSummary]) {
      assert.strictEqual(fold(make("old"), make("new")).title, "new")
      assert.strictEqual(fold(make("old"), make("new"), make("old")).title, "old")
    }
  })

  it("a summary and a task's summary are one step: the later one counts", () => {
    assert.strictEqual(fold(summary("session"), taskSummary("task")).title, "task")
    assert.strictEqual(fold(taskSummary("task"), summary("session")).title, "session")
  })

  it("an empty string clears its step, and the next one answers", () => {
    const clear = [customTitle(""), aiTitle(""), lastPrompt(""), summary("")]
    for (let i = 0; i < clear.length; i++) {
      assert.strictEqual(fold(...steps, ...clear.slice(0, i + 1)).title, titles[i + 1])
    }
    assert.strictEqual(fold(...steps, customTitle(""), customTitle("again")).title, "again")
    assert.notProperty(fold(customTitle("T"), customTitle("")), "title")
  })

  it("an entry without its value clears nothing, and null is no value", () => {
    for (const [i, make] of [customTitle, aiTitle, lastPrompt, summary, taskSummary].entries()) {
      for (const value of [undefined, null, 7, {}]) {
        assert.strictEqual(fold(make("kept"), make(value)).title, "kept", `${i} ${JSON.stringify(value)}`)
      }
    }
  })

  it("a title of blanks counts", () => {
    assert.strictEqual(fold(...steps, customTitle("  ")).title, "  ")
  })

  it("the name of an agent is never a title", () => {
    assert.notProperty(fold({ type: "agent-name", agentName: "reviewer", sessionId }), "title")
  })

  it("titleOf is the rule alone, for whoever has the parts from elsewhere", () => {
    assert.strictEqual(SessionMetadata.titleOf({ customTitle: "", lastPrompt: "last", firstPrompt: "first" }), "last")
    assert.isUndefined(SessionMetadata.titleOf({ customTitle: "" }))
  })
})

describe("the other values", () => {
  const values: ReadonlyArray<readonly [key: keyof SessionMetadata.SessionMetadata, make: (value: unknown) => object]> =
    [
      ["tag", (tag) => ({ type: "tag", tag })],
      ["mode", (mode) => ({ type: "mode", mode })],
      ["permissionMode", (permissionMode) => ({ type: "permission-mode", permissionMode })],
      ["agentName", (agentName) => ({ type: "agent-name", agentName })],
      ["agentColor", (agentColor) => ({ type: "agent-color", agentColor })],
      ["agentSetting", (agentSetting) => ({ type: "agent-setting", agentSetting })],
      ["customTitle", customTitle],
      ["aiTitle", aiTitle],
      ["lastPrompt", lastPrompt],
      ["taskSummary", taskSummary]
    ]

  it("the last one wins, whichever session wrote the line, and also from before a boundary", () => {
    const boundary = { type: "system", uuid: "B1", parentUuid: null, subtype: "compact_boundary" }
    for (const [key, make] of values) {
      assert.strictEqual(fold(make("old"), make("new"), { ...make("foreign"), sessionId: "s2" })[key], "foreign")
      assert.strictEqual(fold(make("before"), boundary, user("x"))[key], "before")
    }
  })

  it("an empty string clears, what is no string says nothing", () => {
    for (const [key, make] of values) {
      assert.strictEqual(fold(make("old"), make(""))[key], "")
      for (const value of [undefined, null, 7, ["x"]]) assert.strictEqual(fold(make("old"), make(value))[key], "old")
      assert.notProperty(fold(make(null)), key)
    }
  })

  it("a worktree is entered and left", () => {
    const state = (worktreeSession: unknown) => ({ type: "worktree-state", worktreeSession })
    assert.notProperty(fold(), "worktree")
    assert.deepStrictEqual(fold(state({ worktreePath: "/w/b" })).worktree, { worktreePath: "/w/b" })
    assert.isNull(fold(state({ worktreePath: "/w/b" }), state(null)).worktree)
    assert.deepStrictEqual(fold(state({ worktreePath: "/w/b" }), { type: "worktree-state" }).worktree, {
      worktreePath: "/w/b"
    })
  })

  it("pull requests add up, each once; the last one is current", () => {
    const link = (prNumber: number) => ({ type: "pr-link", prNumber, prUrl: `https://x/${prNumber}`, sessionId })
    const numbers = (...lines: ReadonlyArray<object>) => fold(...lines).pullRequests.map((pr) => pr.prNumber)
    assert.deepStrictEqual(numbers(link(1), link(2)), [1, 2])
    assert.deepStrictEqual(numbers(link(1), link(2), link(2), link(1)), [2, 1])
    assert.deepStrictEqual(numbers({ type: "pr-link", sessionId }), [])
  })

  it("summaries are known by their leaf, the last of a leaf wins", () => {
    const { summaries } = fold(summary("a", "u1"), summary("b", "u2"), summary("c", "u1"))
    assert.deepStrictEqual(
      [...summaries],
      [
        ["u1", "c"],
        ["u2", "b"]
      ]
    )
  })

  it("bridge, cost and tools are those of their last entry", () => {
    const folded = fold(
      { type: "bridge-session", bridgeSessionId: "b1" },
      { type: "bridge-session", bridgeSessionId: "b2" },
      { type: "cost-state", totalCostUSD: 1 },
      { type: "cost-state", totalCostUSD: 0.5 },
      { type: "tools-used", tools: ["Bash"] },
      { type: "tools-used", tools: ["Bash", "Read"] }
    )
    assert.strictEqual(folded.bridge?.bridgeSessionId, "b2")
    assert.strictEqual(folded.cost?.totalCostUSD, 0.5)
    assert.deepStrictEqual(folded.toolsUsed, ["Bash", "Read"])
  })

  it("directory and start are those of the first message of the main lane, the rest those of the last", () => {
    const time = (n: number) => `2026-01-01T00:00:0${n}.000Z`
    const stamp = (n: number) => ({
      cwd: `/w/${n}`,
      gitBranch: `b${n}`,
      version: `2.1.${n}`,
      timestamp: time(n),
      entrypoint: `e${n}`,
      slug: `s${n}`
    })
    const folded = fold(
      user("x", { ...stamp(0), isSidechain: true }),
      user("a", stamp(1)),
      user("b", { timestamp: "zzz" }),
      user("c", stamp(2)),
      user("d")
    )
    assert.deepInclude(folded, { createdAt: time(1), updatedAt: time(2) })
    assert.deepInclude(folded, { cwd: "/w/1", gitBranch: "b2", version: "2.1.2", entrypoint: "e2", slug: "s2" })
  })
})

describe("restating", () => {
  const lines = [
    lastPrompt("last"),
    customTitle("T"),
    aiTitle(""),
    { type: "tag", tag: "" },
    { type: "mode", mode: "normal" },
    { type: "agent-name", agentName: "n" },
    { type: "agent-color", agentColor: "c" },
    { type: "agent-setting", agentSetting: "s" },
    { type: "permission-mode", permissionMode: "plan" },
    { type: "worktree-state", worktreeSession: null },
    { type: "pr-link", prNumber: 1, prUrl: "https://x/1" },
    { type: "pr-link", prNumber: 2, prUrl: "https://x/2" }
  ]

  it("is the way back: said again, the metadata is what it was", () => {
    for (let end = 0; end <= lines.length; end++) {
      const folded = fold(...lines.slice(0, end))
      const again = SessionMetadata.restate(folded, "u1")
      assert.deepStrictEqual(fold(...lines.slice(0, end), ...again), folded)
      const { pullRequests, ...rest } = fold(...again)
      assert.deepStrictEqual({ ...rest, pullRequests: folded.pullRequests }, folded)
      assert.deepStrictEqual(
        pullRequests.map((pr) => pr.prNumber),
        folded.pullRequests.slice(-1).map((pr) => pr.prNumber)
      )
    }
  })
})

describe("the projection", () => {
  const AnyLine = Arbitrary.schema(
    Schema.Struct({
      type: Schema.Literals([
        "user",
        "custom-title",
        "ai-title",
        "last-prompt",
        "summary",
        "pr-link",
        "worktree-state"
      ]),
      ...Object.fromEntries(
        ["customTitle", "aiTitle", "lastPrompt", "summary", "leafUuid", "worktreeSession", "message", "timestamp"].map(
          (key) => [key, Schema.optionalKey(Schema.Union([Schema.Literals(["", "a", "b"]), Schema.Null, Schema.Json]))]
        )
      )
    })
  )

  it.prop("is total, and an answer given is not changed by what follows", [Arbitrary.array(AnyLine)], ([lines]) => {
    const run = Projection.run(SessionMetadata.projection)
    const log = new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
    const entries: ReadonlyArray<Entry.Entry> = Line.decodeAll(log).map(({ entry }) => entry)
    const answers = entries.map((entry) => {
      run.evolve(entry)
      return run.extract()
    })
    for (const [i, answer] of answers.entries()) {
      assert.deepStrictEqual(answer, Projection.fold(SessionMetadata.projection, entries.slice(0, i + 1)))
      assert.strictEqual(answer.title, SessionMetadata.titleOf(answer))
    }
  })
})
