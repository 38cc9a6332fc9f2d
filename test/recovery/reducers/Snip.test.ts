import { assert, describe, it } from "@effect/vitest"
import * as Boundary from "@reprise/domain/Boundary"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Projection from "@reprise/domain/Projection"
import * as Recovery from "@reprise/recovery/Recovery"
import * as Snip from "@reprise/recovery/reducers/Snip"
import {
  findings,
  links,
  log,
  model,
  omitted,
  type Options,
  places,
  recover,
  recovers,
  rest,
  tell,
  view,
  written,
  holds
} from "../picture.ts"

const reduces = (picture: string, options: Options = {}): string => {
  const reduced = Snip.reduce(written(picture, options))
  assert.isTrue(Snip.isReduced(reduced), "is reduced after")
  const twice = Snip.reduce(reduced)
  assert.strictEqual(links(twice), links(reduced), "twice is once")
  assert.deepStrictEqual(twice.findings, reduced.findings, "twice reports once")
  return links(reduced)
}

describe("Snip", () => {
  it("takes messages out, and hangs what followed on what came before", () => {
    assert.strictEqual(links(written("u1-a1-u2-a2-u3-N1{u2,a2}")), "u1 u1-a1 a1-u2 u2-a2 a2-u3 u3-N1")
    assert.strictEqual(reduces("u1-a1-u2-a2-u3-N1{u2,a2}"), "u1 u1-a1 a1-u3 u3-N1")
    assert.strictEqual(recovers("u1-a1-u2-a2-N1{u2,a2}-u3"), "u1-a1-N1-u3")
  })

  it("leaves them in the log: they are listed as removed, in log order", () => {
    assert.strictEqual(rest("u1-a1-u2-a2-N1{a2,u2}-u3"), "removed u2,a2")
  })

  it("is not reduced while a named message is there, and is afterwards", () => {
    assert.isFalse(Snip.isReduced(written("u1-a1-N1{a1}")))
    for (const picture of ["", "u1", "u1-a1-N1{}", "u1-a1-N1{x9}"]) {
      assert.isTrue(Snip.isReduced(written(picture)), picture)
      reduces(picture)
    }
  })

  it("hangs each survivor on its nearest surviving ancestor by the removed ones' own links", () => {
    assert.strictEqual(reduces("u1-a1-u2-a2 u2-a3 a1-u4-N1{a1,u2}"), "u1 u1-a2 u1-a3 u1-u4 u4-N1")
  })

  it("makes a root of a survivor with no surviving ancestor", () => {
    assert.strictEqual(reduces("u1-a1-u2-a2-N1{u1,a1}"), "u2 u2-a2 a2-N1")
    assert.strictEqual(recovers("u1-a1-u2-a2-N1{u1,a1}"), "u2-a2-N1")
  })

  it("adds up over several snips", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2-N1{u2,a2}-u3-a3-N2{a1,u3}-u4"), "u1-N1-a3-N2-u4")
    assert.strictEqual(rest("u1-a1-u2-a2-N1{u2,a2}-u3-a3-N2{a1,u3}-u4"), "removed a1,u2,a2,u3")
  })

  it("twice is once, in one log, too", () => {
    assert.strictEqual(recovers("u1-a1-u2-N1{a1}-N2{a1,a1}"), "u1-u2-N1-N2")
    assert.strictEqual(findings("u1-a1-u2-N1{a1}-N2{a1,a1}"), "")
  })

  it("reports an id that is in no line, and takes out the others", () => {
    assert.strictEqual(recovers("u1-a1-u2-N1{a1,x9}"), "u1-u2-N1")
    assert.strictEqual(findings("u1-a1-u2-N1{a1,x9}"), "snip-unknown-id N1 x9")
    assert.strictEqual(findings("u1-a1-N1{x8,x9}"), "snip-unknown-id N1 x8,x9")
  })

  it("points that finding at the line of the snip", () => {
    const picture = "u1-a1-N1{x8}-u2-N2{x9}"
    assert.strictEqual(
      places(Snip.reduce(written(picture)).findings, log(picture)),
      "snip-unknown-id@N1 snip-unknown-id@N2"
    )
  })

  it("names messages that stand later in the file as well", () => {
    assert.strictEqual(recovers("u1-N1{u2}-a1-u2-u3"), "u1-N1-a1-u3")
  })

  it("can name the leaf: the conversation ends before it", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-N1{u2,a2}"), "u1-a1-N1")
    assert.strictEqual(recovers("u1-a1-u2-a2-N1{u2,a2}"), "u1-a1-N1")
    assert.strictEqual(recovers("u1-a1-u2-a2 N1{a2}"), "u1-a1-u2")
  })

  it("can name itself", () => {
    assert.strictEqual(recovers("u1-a1-N1{N1}-u2"), "u1-a1-u2")
    assert.strictEqual(rest("u1-a1-N1{N1}-u2"), "removed N1")
  })

  it("can name everything: nothing is left", () => {
    assert.strictEqual(recovers("u1-a1-N1{u1,a1,N1}"), "")
    assert.strictEqual(view("u1-a1-N1{u1,a1,N1}"), "")
  })

  it("can name a boundary: its summary is a root then", () => {
    assert.strictEqual(recovers("u1-a1 B1-S1-u2-N1{B1}"), "S1-u2-N1")
    assert.strictEqual(rest("u1-a1 B1-S1-u2-N1{B1}"), "removed B1; a1<root ×2")
  })

  it("can name a summary: what followed hangs on the boundary", () => {
    assert.strictEqual(recovers("u1-a1 B1-S1-u2-N1{S1}"), "B1-u2-N1")
  })

  it("can name the root of a branch and a branch point", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-u3-a3-N1{a1}"), "u1-u3-a3-N1")
    assert.strictEqual(rest("u1-a1-u2-a2 a1-u3-a3-N1{a1}"), "removed a1; a2<u1 ×2")
  })

  it("names nothing where its record does not fit", () => {
    for (const snipMetadata of [null, undefined, {}, { removedUuids: "u1" }, { removedUuids: [7, null] }]) {
      const bodies = { N1: { type: "system", subtype: "snip_boundary", snipMetadata } }
      assert.strictEqual(recovers("u1-a1-N1", { bodies }), "u1-a1-N1")
    }
  })

  it("is no snip without its subtype", () => {
    const bodies = { N1: { ...Boundary.snip(["u1"]), subtype: "other" } }
    assert.strictEqual(recovers("u1-a1-N1", { bodies }), "u1-a1-N1")
  })

  it("ends on a cycle, whatever is named", () => {
    for (const named of ["u2", "u2,a2", "u1,u2,a2"]) reduces(`u1 u2^a2-a2-u3-N1{${named}}`)
  })

  it("leaves the graph that it was given as it was", () => {
    const graph = written("u1-a1-u2-N1{a1}")
    Snip.reduce(graph)
    assert.strictEqual(links(graph), "u1 u1-a1 a1-u2 u2-N1")
    assert.strictEqual(graph.removed.size, 0)
  })
})

describe("Half a call pair", () => {
  it("may be snipped: the chain shows what was asked, and the model view drops the other half", () => {
    assert.strictEqual(recovers("u1-a1(A)-rA-a2-N1{rA}"), "u1-a1-a2-N1")
    assert.strictEqual(view("u1-a1(A)-rA-a2-N1{rA}"), "u[u1] a[a2]")
    assert.strictEqual(recovers("u1-a1(A)-rA-a2-N1{a1}"), "u1-rA-a2-N1")
    assert.strictEqual(view("u1-a1(A)-rA-a2-N1{a1}"), "u[u1] a[a2]")
    assert.strictEqual(omitted("u1-a1(A)-rA-a2-N1{a1}"), "rA:orphan-result N1:system")
  })

  it("is noted with the message that holds the half which stayed", () => {
    const noted = (picture: string) => tell([...recover(picture).findings, ...model(picture).findings])
    assert.include(noted("u1-a1(A)-rA-a2-N1{rA}"), "snip-half-pair a1/A")
    assert.include(noted("u1-a1(A)-rA-a2-N1{a1}"), "snip-half-pair rA/A")
  })

  it("is not noted of a result that never had a call, or a call that never had a result", () => {
    assert.strictEqual(findings("u1-rZ-a1(A)-u2-N1{u2}"), "")
  })

  it("leaves the other half on the chain also where that hangs beside it", () => {
    assert.strictEqual(holds("u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3-N1{rA}"), "N1 a1 a2 a3 rB u1")
    assert.strictEqual(holds("u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3-N1{a2}"), "N1 a1 a3 rA rB u1")
    assert.strictEqual(holds("u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3-N1{a1}"), "N1 a2 a3 rA rB u1")
  })

  it("is not noted where the pair went as a whole", () => {
    assert.strictEqual(findings("u1-a1(A)-rA-a2-N1{a1,rA}"), "")
  })
})

describe("A session that is followed while it is snipped", () => {
  it("has at every moment the conversation that its log recovers to", () => {
    const entries = log("u1-a1-u2-a2-N1{u2,a2}-u3-a3-N2{a1}-u4-a4-N3{u3,N1}")
    const run = Projection.run(Recovery.projection)
    entries.forEach((entry, i) => {
      run.evolve(entry)
      assert.deepStrictEqual(run.extract(), Recovery.stateAt(entries, i + 1))
    })
    assert.strictEqual(Notation.show(run.extract().conversation), "u1-a3-N2-u4-a4-N3")
  })
})
