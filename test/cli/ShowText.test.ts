import * as Resume from "@reprise/cli/Resume"
import * as ShowText from "@reprise/cli/ShowText"
import * as Style from "@reprise/cli/Style"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Temporary from "../storage/temporary.ts"
import { logs, write } from "./running.ts"

let ids = 0
const entry = (type: string, content: unknown, more: object = {}) => {
  const parentUuid = ids === 0 ? null : `m${ids}`
  return { type, uuid: `m${++ids}`, parentUuid, message: { id: `r${ids}`, role: type, content }, ...more }
}

/** What is shown of entries, each hanging on the one before it, below the heading of the file. */
const shown = (limits: ShowText.Limits, make: () => ReadonlyArray<object>, columns = 60) =>
  Effect.gen(function* () {
    ids = 0
    const bytes = new TextEncoder().encode(
      make()
        .map((line) => `${JSON.stringify(line)}\n`)
        .join("")
    )
    const resumed = yield* Resume.resume(write(yield* Temporary.directory, "log", bytes))
    const text = [...ShowText.render(resumed, Style.plain(columns), limits, "reprise explain FILE")].join("")
    return text.trimEnd().split("\n").slice(4)
  }).pipe(Effect.provide(logs))

const call = (id: string, command: string) => ({ type: "tool_use", id, name: "Bash", input: { command } })
const answer = (id: string, content: string, more: object = {}) =>
  entry("user", [{ type: "tool_result", tool_use_id: id, content, ...more }])

describe("a conversation", () => {
  it.effect("keeps lines and indents, and wraps what is too long", () =>
    Effect.gen(function* () {
      const code = "Look:\n\tif (a)\n\t\tb()\n" + "word ".repeat(20)
      assert.deepStrictEqual(yield* shown(ShowText.some, () => [entry("user", code)], 40), [
        "user",
        "  Look:",
        "    if (a)",
        "      b()",
        `  ${"word ".repeat(7).trim()}`,
        `  ${"word ".repeat(7).trim()}`,
        `  ${"word ".repeat(6).trim()}`
      ])
    })
  )

  it.effect("that begins with a result says so", () =>
    Effect.gen(function* () {
      const make = () => [answer("c9", "x"), entry("assistant", [{ type: "text", text: "Good." }])]
      const told = yield* shown(ShowText.some, make)
      assert.deepStrictEqual(told.slice(0, 5), ["result", "    ← c9: x", "", "assistant", "  Good."])
    })
  )

  it.effect("shortens results, and names those that do not follow their call", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 9 }, (_, i) => `line ${i}`).join("\n")
      const make = () => [
        entry("user", "Do."),
        entry("assistant", [{ type: "thinking", thinking: "Hm.", signature: "s" }, call("c1", "ls")]),
        answer("c1", many),
        entry("assistant", [call("c2", "a"), call("c3", "b")]),
        answer("c2", "A"),
        answer("c3", "B", { is_error: true })
      ]
      assert.deepStrictEqual(yield* shown(ShowText.some, make), [
        "user",
        "  Do.",
        "",
        "assistant",
        "  → Bash ls",
        "    ← line 0",
        "      line 1",
        "      line 2",
        "      line 3",
        "      line 4",
        "      … and 4 more lines (--full shows them)",
        "  → Bash a",
        "  → Bash b",
        "    ← Bash: A",
        "    ← failed: B"
      ])
      const all = yield* shown(ShowText.all, make)
      assert.include(all, "  Hm.")
      assert.include(all, "      line 8")
    })
  )

  it.effect("does not steer the terminal, and fits it", () =>
    Effect.gen(function* () {
      const wild = "\u001b[2J\u202eabc\u0007 " + "日本語 ".repeat(30)
      const lines = yield* shown(
        ShowText.some,
        () => [entry("user", wild), entry("assistant", [call("c1", wild)]), answer("c1", wild)],
        50
      )
      for (const line of lines) {
        assert.isAtMost(Style.width(line), 50)
        assert.notMatch(line, /[\p{Cc}\u202e]/u)
      }
    })
  )

  it.effect("of nothing says so", () =>
    Effect.gen(function* () {
      const resumed = yield* Resume.resume(write(yield* Temporary.directory, "log", new Uint8Array()))
      assert.include([...ShowText.render(resumed, Style.plain(), ShowText.some, "")].join(""), "nothing was said")
    }).pipe(Effect.provide(logs))
  )
})
