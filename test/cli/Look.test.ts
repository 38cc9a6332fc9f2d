import * as Look from "@reprise/cli/Look"
import * as Style from "@reprise/cli/Style"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { explain } from "./explaining.ts"
import { logs } from "./running.ts"

const look: Look.Look = { style: Style.plain(20), id: (text) => text, limits: { changes: 3, ids: 3 } }

describe("make", () => {
  it.effect("shortens ids where they can be told apart, those in no line included", () =>
    Effect.gen(function* () {
      const { id } = Look.make(yield* explain("u1-a1"), Style.plain(), Look.some)
      assert.strictEqual(id("of 1c9a5b7e-40d3-4f86-8e2b-95d7a6c3f014"), "of 1c9a5b7e")
    }).pipe(Effect.provide(logs))
  )
})

describe("a list", () => {
  it("is wrapped, and cut with a count", () => {
    assert.deepStrictEqual(Look.list(["a1", "a2"], look, "  "), ["  a1 a2"])
    assert.deepStrictEqual(Look.list(["a", "b", "c", "d"], look, "  "), ["  a b c d"])
    assert.deepStrictEqual(Look.list(["a", "b", "c", "d", "e"], look, "  "), [
      "  a b c",
      "  … and 2 more (--full shows them)"
    ])
    assert.deepStrictEqual(Look.list(["aaaaaaaaaa", "bbbbbbbbbb"], look, "  "), ["  aaaaaaaaaa", "  bbbbbbbbbb"])
    assert.deepStrictEqual(Look.list(["a", "b", "c", "d", "e"], { ...look, limits: Look.all }, "  "), ["  a b c d e"])
  })
})

describe("a stand", () => {
  for (const [stand, expected] of [
    [{ is: "root" }, "a root"],
    [{ is: "message", uuid: "a1", line: 2 }, "a1"],
    [{ is: "message", uuid: "u2", line: 3 }, "itself"],
    [{ is: "link", uuid: "p1" }, "p1 (no message)"],
    [{ is: "missing", uuid: "x9" }, "x9 (in no line)"],
    [{ is: "sidechain", uuid: "u5" }, "u5 (in a sidechain)"],
    [{ is: "loop", uuid: "p1" }, "p1 (leads back to itself)"],
    [{ is: "behind", uuid: "a1", line: 2 }, "behind a1"],
    [{ is: "walk" }, "on the walk"],
    [{ is: "beside" }, "beside the walk"],
    [{ is: "removed", by: "N1", line: 5 }, "removed"],
    [{ is: "archived", by: "B1", line: 5 }, "archived"]
  ] as const) {
    it(`reads ${expected}`, () =>
      assert.strictEqual(
        Look.stand(stand, "u2", (text) => text),
        expected
      ))
  }
})

describe("changes", () => {
  const change = (uuid: string, line: number, ...why: ReadonlyArray<string>) =>
    ({ uuid, line, from: { is: "missing", uuid: "x9" }, to: { is: "root" }, why }) as const

  it("stand one to a line, with the reason below the last one that it is true of", () => {
    assert.deepStrictEqual(
      Look.changed([change("u1", 9, "Why."), change("u2", 10, "Why."), change("u3", 11, "Else.", "And.")], look),
      [
        "  line  9  u1  x9 (in no line) → a root",
        "  line 10  u2  x9 (in no line) → a root",
        "           Why.",
        "  line 11  u3  x9 (in no line) → a root",
        "           Else.",
        "           And."
      ]
    )
  })

  it("are painted where they lead to", () => {
    const [first] = Look.changed([change("u1", 9)], { ...look, style: Style.colored() })
    assert.strictEqual(first, "  line 9  u1  x9 (in no line) → \u001b[33ma root\u001b[39m")
  })
})

describe("a heading and what is left out", () => {
  it("are lines of their own", () => {
    assert.strictEqual(Look.heading(Style.plain(), "Snip", "nothing to do"), "Snip          nothing to do")
    assert.deepStrictEqual(Look.more(0), [])
    assert.deepStrictEqual(Look.more(3), ["  … and 3 more (--full shows them)"])
  })
})
