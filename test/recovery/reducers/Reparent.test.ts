import { assert, describe, it } from "@effect/vitest"
import * as Progress from "@reprise/recovery/reducers/Progress"
import * as Reparent from "@reprise/recovery/reducers/Reparent"
import {
  findings,
  lines,
  links,
  located,
  log,
  type Options,
  places,
  recover,
  recovers,
  rest,
  tell,
  written
} from "../picture.ts"
import * as Recovery from "@reprise/recovery/Recovery"

/** The links of a log after; before only where it says so. */
const reduces = (picture: string, options: Options = {}): string => {
  const reduced = Reparent.reduce(Progress.reduce(written(picture, options)))
  assert.isTrue(Reparent.isReduced(reduced), "is reduced after")
  const twice = Reparent.reduce(reduced)
  assert.strictEqual(links(twice), links(reduced), "twice is once")
  assert.deepStrictEqual(twice.findings, reduced.findings, "twice reports once")
  return links(reduced)
}

describe("Reparent", () => {
  it("hangs a message whose parent is in no line on the newest one that is not later", () => {
    assert.strictEqual(links(written("u1-a1 x9-u2-a2")), "u1 u1-a1 ?-u2 u2-a2")
    assert.strictEqual(reduces("u1-a1 x9-u2-a2"), "u1 u1-a1 a1-u2 u2-a2")
    assert.strictEqual(findings("u1-a1 x9-u2-a2"), "missing-parent u2>a1")
  })

  it("hangs a message that is its own parent likewise", () => {
    assert.strictEqual(reduces("u1-a1 u2^u2-a2"), "u1 u1-a1 a1-u2 u2-a2")
    assert.strictEqual(findings("u1-a1 u2^u2-a2"), "self-parent u2>a1")
  })

  it("cuts a cycle at its oldest message", () => {
    assert.strictEqual(reduces("u1-a1 u2^a2-a2-u3"), "u1 u1-a1 a1-u2 u2-a2 a2-u3")
    assert.strictEqual(findings("u1-a1 u2^a2-a2-u3"), "cycle u2>a1")
    assert.strictEqual(recovers("u1-a1 u2^a2-a2-u3"), "u1-a1-u2-a2-u3")
  })

  it("cuts every cycle, and leaves what hangs below them where it is", () => {
    assert.strictEqual(reduces("u1^a1-a1 u2^a2-a2-u3 x9-u4"), "u1 u1-a1 a1-u2 u2-a2 a2-u3 u3-u4")
  })

  it("cuts a cycle of equal times, or of none, at the first in the file", () => {
    assert.strictEqual(reduces("u1:1 u2^a2:5-a2:5"), "u1 u1-u2 u2-a2")
    assert.strictEqual(reduces("u1:1 a2^u2:5 a2-u2:5"), "u1 u1-a2 a2-u2")
    assert.strictEqual(reduces("u1:1 u2^a2:?-a2:?"), "u1 u1-u2 u2-a2")
  })

  it("cuts a cycle of which some have no time at the oldest of those that have one", () => {
    assert.strictEqual(reduces("u1:1 u2^a2:?-a2:5"), "u1 a2-u2 u1-a2")
    assert.strictEqual(reduces("u1:1 u2^a2:5-a2:?"), "u1 u1-u2 u2-a2")
  })

  it("hangs a message whose parent is in another lane likewise", () => {
    assert.strictEqual(reduces("u1-a1 a1-u2~abc-a2"), "u1 u1-a1 a1-a2")
    assert.strictEqual(findings("u1-a1 a1-u2~abc-a2"), "sidechain-parent a2>a1")
  })

  it("hangs a message behind a loop of links likewise", () => {
    assert.strictEqual(reduces("u1-a1 p1^p2 p1-p2-u2"), "u1 u1-a1 a1-u2")
    assert.strictEqual(findings("u1-a1 p1^p2 p1-p2-u2"), "cycle u2>a1")
  })

  it("is not reduced while a link is broken, and is afterwards", () => {
    for (const picture of ["x9-u1", "u1^u1", "u1^a1-a1", "u1-u2~abc-a1"]) {
      assert.isFalse(Reparent.isReduced(written(picture)), picture)
      reduces(picture)
    }
    for (const picture of ["", "u1", "u1-a1 u2", "a1^u1 u1"]) {
      const graph = written(picture)
      assert.isTrue(Reparent.isReduced(graph), picture)
      assert.strictEqual(Reparent.reduce(graph), graph, picture)
    }
  })

  it("goes by time and not by place in the file", () => {
    // a2 stands before u3 in the file, and is later.
    assert.strictEqual(reduces("u1:1-a1:2-u2:8-a2:9 x9-u3:5"), "u1 u1-a1 a1-u2 u2-a2 a1-u3")
    assert.strictEqual(reduces("x9-u2:5 u1:1-a1:2"), "a1-u2 u1 u1-a1")
  })

  it("of equal times takes the first in the file", () => {
    assert.strictEqual(reduces("u1:1-a1:3-a2:3 x9-u2:3"), "u1 u1-a1 a1-a2 a1-u2")
  })

  it("does not mind the distance in time", () => {
    assert.strictEqual(reduces("u1:1-a1:2 x9-u2:86000"), "u1 u1-a1 a1-u2")
  })

  it("hangs it on any of the four types", () => {
    assert.strictEqual(reduces("u1-a1-t1 x9-u2"), "u1 u1-a1 a1-t1 t1-u2")
    assert.strictEqual(reduces("u1-a1-s1 x9-u2"), "u1 u1-a1 a1-s1 s1-u2")
  })

  it("never hangs it on a sidechain", () => {
    assert.strictEqual(reduces("u1-a1 u2~abc-a2~abc x9-u3"), "u1 u1-a1 a1-u3")
  })

  it("never hangs a message on its own descendant", () => {
    // a2 and u3 are no later than u2 and hang on it.
    assert.strictEqual(reduces("u1:1-a1:2 x9-u2:5-a2:3-u3:4"), "u1 u1-a1 a1-u2 u2-a2 a2-u3")
    assert.strictEqual(reduces("x9-u2:5-a2:3"), "u2 u2-a2")
  })

  it("without a timestamp hangs it on the message before it in the file", () => {
    assert.strictEqual(reduces("u1:1-a1:9 x9-u2:?-a2"), "u1 u1-a1 a1-u2 u2-a2")
    assert.strictEqual(reduces("u1:?-a1:? x9-u2:?"), "u1 u1-a1 a1-u2")
    assert.strictEqual(reduces("u1-a1 x9-u2", { bodies: { u2: { timestamp: "soon" } } }), "u1 u1-a1 a1-u2")
  })

  it("without a timestamp passes over its own descendants, too", () => {
    assert.strictEqual(reduces("u1 a2^u2 x9-u2:?"), "u1 u2-a2 u1-u2")
  })

  it("makes a root of what has nothing older", () => {
    assert.strictEqual(reduces("u1-a1 x9-u2:0"), "u1 u1-a1 u2")
    assert.strictEqual(findings("x9-u1-a1"), "missing-parent u1>root")
    assert.strictEqual(reduces("x9-u1:?"), "u1")
    assert.strictEqual(reduces("u1^u1"), "u1")
    assert.strictEqual(reduces("u1^a1-a1"), "u1 u1-a1")
  })

  it("never bridges a written null, an empty parent or an absent one", () => {
    assert.strictEqual(reduces("u1-a1 u2"), "u1 u1-a1 u2")
    for (const parentUuid of ["", undefined]) {
      assert.strictEqual(reduces("u1-a1-u2", { bodies: { u2: { parentUuid } } }), "u1 u1-a1 u2")
    }
    assert.strictEqual(findings("u1-a1 u2"), "")
  })

  it("bridges each of those that share a missing parent by its own time", () => {
    assert.strictEqual(reduces("u1-a1 x9-u2-a2 x9-u3"), "u1 u1-a1 a1-u2 u2-a2 a2-u3")
    assert.strictEqual(findings("u1-a1 x9-u2-a2 x9-u3"), "missing-parent u2>a1; missing-parent u3>a2")
  })

  it("ends where bridges would close a ring", () => {
    // Each is the newest that is not later than the other.
    assert.strictEqual(reduces("x8-u1:5 x9-u2:5").split(" ").length, 2)
    assert.strictEqual(reduces("x7-u1:? x8-u2:5 x9-u3:5 u4^u4:5").split(" ").length, 4)
  })

  it("ends where two cycles of equal times would be hung on each other", () => {
    assert.strictEqual(reduces("u1^a1:5-a1:5 u2^a2:5-a2:5"), "u2-u1 u1-a1 u2 u2-a2")
  })

  it("compares ids as they are: another case is another id", () => {
    assert.strictEqual(findings("u1-a1-u2", { bodies: { u2: { parentUuid: "A1" } } }), "missing-parent u2>a1")
  })

  it("points each finding at the line of the entry that was bridged", () => {
    const picture = "u1-a1 x9-u2 u3^u3 u4^a4-a4 u5~abc-u6"
    const { findings } = Reparent.reduce(written(picture))
    assert.strictEqual(places(findings, log(picture)), "missing-parent@u2 self-parent@u3 cycle@u4 sidechain-parent@u6")
  })

  it("names the parent that was written", () => {
    const [finding] = Reparent.reduce(written("u1-a1 x9-u2")).findings
    assert.deepInclude(finding, {
      kind: "missing-parent",
      severity: "repair",
      uuid: "u2",
      parent: "x9",
      bridgedTo: "a1"
    })
  })
})

describe("A damaged line", () => {
  it("leaves a gap where its child was bridged over it", () => {
    assert.strictEqual(recovers("u1-a1 ? x9-u3-a3"), "u1-a1-u3-a3")
    assert.include(findings("u1-a1 ? x9-u3-a3"), "missing-parent u3>a1; gap u3")
  })

  it("is a loss where it surely held the parent", () => {
    const [u1, a1, u2, a2] = lines("u1-a1-u2-a2") as [string, string, string, string]
    const torn = u2.slice(0, u2.indexOf('"timestamp"'))
    const { conversation, findings } = Recovery.fold(located([u1, a1, torn, a2].join("\n")))
    assert.deepStrictEqual(
      conversation.map(({ uuid }) => uuid),
      ["u1", "a1", "a2"]
    )
    assert.include(tell(findings), "missing-parent a2>a1")
    assert.strictEqual(findings.find(({ kind }) => kind === "gap")?.severity, "loss")
    assert.strictEqual(findings.find(({ kind }) => kind === "torn-line")?.line, 3)
  })

  it("is a loss where one of several surely held the parent", () => {
    const [u1, a1, u2, a2] = lines("u1-a1-u2-a2") as [string, string, string, string]
    const torn = u2.slice(0, u2.indexOf('"timestamp"'))
    const { findings } = Recovery.fold(located([u1, '{"type":"us', a1, torn, a2].join("\n")))
    assert.strictEqual(findings.find(({ kind }) => kind === "gap")?.severity, "loss")
  })

  it("is a note where it only may have", () => {
    const gap = recover("u1-a1 ? x9-u3").findings.find(({ kind }) => kind === "gap")
    assert.strictEqual(gap?.severity, "note")
    assert.strictEqual(gap?.line, 4)
  })

  it("is noted also where nothing older exists: the message behind it is a root", () => {
    assert.include(findings("? x9-u1"), "missing-parent u1>root; gap u1")
  })

  it("leaves no gap where nothing was bridged over it", () => {
    assert.notInclude(findings("u1-a1 ? a1-u2"), "gap")
    assert.notInclude(findings("u1 ? u1-a1 x9-u2"), "gap")
    assert.notInclude(findings("u1 ? u2^u2"), "gap")
  })
})

describe("The chain", () => {
  it("is not cut by a missing parent, however long ago the rest was", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 x9-u3:80000-a3:80001"), "u1-a1-u2-a2-u3-a3")
    assert.strictEqual(rest("u1-a1-u2-a2 x9-u3:80000-a3:80001"), "")
  })

  it("is not cut where no line has a time", () => {
    assert.strictEqual(recovers("u1:?-a1:? x9-u2:?-a2:?"), "u1-a1-u2-a2")
  })

  it("goes on behind a boundary when the first parent after it is missing", () => {
    assert.strictEqual(recovers("u1-a1 B1-S1 x9-u2-a2"), "B1-S1-u2-a2")
  })
})
