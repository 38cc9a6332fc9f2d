import { assert, describe, it } from "@effect/vitest"
import * as Finding from "@reprise/domain/Finding"
import { Schema } from "effect"

const at = (line: number): Finding.Position => ({ line, byteStart: line * 10, byteEnd: line * 10 + 9 })
const bridged = { uuid: "u2", parent: "x1", bridgedTo: "a1" }

/** One example of the details of every kind. */
const examples: { readonly [K in Finding.Kind]: Finding.Details[K] } = {
  "torn-line": { bytes: 12 },
  "malformed-line": { bytes: 12 },
  "blank-line": { count: 1 },
  "nul-bytes": { count: 512 },
  bom: {},
  "carriage-return": { count: 3 },
  "invalid-utf8": {},
  "glued-lines": { count: 2 },
  gap: { uuid: "u2", severity: "loss" },
  "ill-formed": { type: "user", keys: ["message", "isMeta"], uuid: "u2" },
  "unknown-type": { type: "someday", count: 4 },
  "repeated-id": { uuid: "u2", lines: [3, 9] },
  "missing-parent": bridged,
  "self-parent": bridged,
  cycle: { ...bridged, bridgedTo: null },
  "sidechain-parent": bridged,
  "preserved-missing": { uuid: "B1", uuids: ["u1", "a1"] },
  "preserved-broken": { uuid: "B1" },
  "anchor-missing": { uuid: "B1", anchor: "S1", bridgedTo: null },
  "boundary-off-chain": { uuid: "B1" },
  "boundary-unfinished": { uuid: "B1" },
  "snip-unknown-id": { uuid: "N1", uuids: ["u1"] },
  "snip-half-pair": { uuid: "a1", toolUseId: "A" },
  "parallel-recovered": { messageId: "m1", uuids: ["a2", "rA"] },
  "late-result": { uuid: "rA" },
  "last-prompt-outranked": { uuid: "a1" },
  "last-prompt-unknown": { uuid: "a1" },
  "orphan-result": { uuid: "rA", toolUseId: "A" },
  "duplicate-result": { uuid: "rA", toolUseId: "A" },
  "unresolved-call": { uuid: "a1", toolUseId: "A" },
  "pending-prompt": { text: "go on" },
  drift: { uuid: "s1", expected: 7, found: null },
  "bad-metadata": { type: "tag" },
  "foreign-session": { sessionId: "s2", count: 3 },
  "session-unnamed": { sessionId: "s3" },
  "host-missing": { what: "worktree", name: "feature" }
}
const kinds = Object.keys(examples) as ReadonlyArray<Finding.Kind>

describe("every kind", () => {
  it("has a severity, and there are no others", () => {
    assert.deepStrictEqual(Object.keys(Finding.severities).toSorted(), kinds.toSorted())
    for (const kind of kinds) assert.include(["loss", "repair", "note"], Finding.severities[kind])
  })

  it("is explained in one sentence that ends in a full stop", () => {
    for (const kind of kinds) {
      const sentence = Finding.explain(Finding.make(kind, examples[kind]))
      assert.match(sentence, /^[A-Za-z0-9"][^.!?\n]+\.$/, kind)
      assert.notMatch(sentence, /undefined|null|\[object|entrys/, kind)
    }
  })

  it("is explained by what it carries", () => {
    const explain = <K extends Finding.Kind>(kind: K, details: Finding.Details[K]) =>
      Finding.explain(Finding.make(kind, details))
    assert.strictEqual(explain("blank-line", { count: 1 }), "1 blank line.")
    assert.strictEqual(explain("blank-line", { count: 2 }), "2 blank lines.")
    assert.include(explain("glued-lines", { count: 2 }), "2 entries")
    assert.include(explain("missing-parent", bridged), "hangs on a1")
    assert.include(explain("missing-parent", { ...bridged, bridgedTo: null }), "is a root")
    assert.include(explain("drift", { uuid: "s1", expected: 7, found: 5 }), "5 were recovered")
    assert.isBelow(explain("pending-prompt", { text: "x".repeat(1e6) }).length, 200)
  })

  it("is made with its severity and, where it has one, its position", () => {
    for (const kind of kinds) {
      const severity = kind === "gap" ? "loss" : Finding.severities[kind]
      assert.deepStrictEqual<unknown>(Finding.make(kind, examples[kind]), { ...examples[kind], kind, severity })
      assert.deepStrictEqual<unknown>(Finding.make(kind, examples[kind], at(3)), {
        ...examples[kind],
        kind,
        severity,
        ...at(3)
      })
    }
  })

  it("a gap says itself how much it matters", () => {
    for (const severity of ["loss", "note"] as const) {
      assert.strictEqual(Finding.make("gap", { uuid: "u2", severity }).severity, severity)
    }
  })
})

describe("push", () => {
  const pushed = (findings: Iterable<Finding.Finding>) => {
    const list: Array<Finding.Finding> = []
    for (const finding of findings) Finding.push(list, finding)
    return list
  }
  const line = (kind: "blank-line" | "carriage-return", n: number) => Finding.make(kind, { count: 1 }, at(n))
  const show = (findings: ReadonlyArray<Finding.Finding>) =>
    findings
      .map((f) => `${f.kind} ${f.line}${"count" in f ? `+${f.count}` : ""} ${f.byteStart}-${f.byteEnd}`)
      .join(", ")

  it("merges a run of lines to one finding that covers it", () => {
    assert.strictEqual(show(pushed([3, 4, 5].map((n) => line("blank-line", n)))), "blank-line 3+3 30-59")
    const many = function* () {
      for (let n = 1; n <= 1_000_000; n++) yield line("carriage-return", n)
    }
    assert.strictEqual(show(pushed(many())), "carriage-return 1+1000000 10-10000009")
  })

  it("starts anew where the run is broken, by a healthy line or by other damage", () => {
    const broken = pushed([3, 4, 7].map((n) => line("blank-line", n)))
    assert.strictEqual(show(broken), "blank-line 3+2 30-49, blank-line 7+1 70-79")
    const other = pushed([line("blank-line", 3), line("carriage-return", 4), line("blank-line", 5)])
    assert.strictEqual(show(other), "blank-line 3+1 30-39, carriage-return 4+1 40-49, blank-line 5+1 50-59")
  })

  it("merges no other kind", () => {
    const torn = [3, 4].map((n) => Finding.make("torn-line", { bytes: 9 }, at(n)))
    assert.deepStrictEqual(pushed(torn), torn)
  })

  const Lines = Schema.Array(Schema.Tuple([Schema.Literals(["blank-line", "carriage-return"]), Schema.Boolean]))

  it.prop("counts every line once, and changes no finding that was given", [Lines], ([lines]) => {
    let n = 0
    const findings = lines.map(([kind, skip]) => line(kind, (n += skip ? 2 : 1)))
    const before = JSON.stringify(findings)
    const list = pushed(findings)
    const covered = list.flatMap((f) =>
      f.kind === "blank-line" || f.kind === "carriage-return"
        ? Array.from({ length: f.count }, (_, i) => [f.kind, f.line! + i])
        : []
    )
    assert.deepStrictEqual(
      covered,
      findings.map((f) => [f.kind, f.line])
    )
    assert.strictEqual(JSON.stringify(findings), before)
  })
})
