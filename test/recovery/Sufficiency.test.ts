import { assert, describe, it } from "@effect/vitest"
import * as Repair from "@reprise/recovery/Repair"
import * as Sufficiency from "@reprise/recovery/Sufficiency"
import { written, type Options } from "./picture.ts"

/** The verdict on a log of which this is all that was read. */
const judged = (picture: string, options: Options = {}): string => {
  const graph = written(picture, options)
  const verdict = Sufficiency.judge(graph, Repair.repair(graph))
  return verdict._tag === "Sufficient" ? "sufficient" : `${verdict._tag.toLowerCase()}: ${verdict.why}`
}

const all = (cases: ReadonlyArray<readonly [picture: string, verdict: string]>, options: Options = {}) => {
  for (const [picture, verdict] of cases) assert.strictEqual(judged(picture, options), verdict, picture)
}

describe("Sufficiency.judge", () => {
  it("is content with what hangs on the boundary", () => {
    all(
      ["B1-S1-u2-a2", "B1-S1-u2-a2 S1-u3", "u0-a0 B1{a0>S1}-S1-u2", "u0-a0-u1 B1{a0..u1>S1}-S1-u2"].map(
        (picture) => [picture, "sufficient"] as const
      )
    )
    all([
      ["B1-S1-a1(A)-rA", "sufficient"],
      ["B1-S1-u2-a2-N1{u2}", "sufficient"],
      ["B1-S1-p1-u2", "sufficient"],
      ["B1-S1-u2 B2-S2-u3", "sufficient"]
    ])
  })

  it("wants the whole log for a link that leads out of it, or through what was written later", () => {
    all([
      ["B1-S1-u2 x1-u3", "whole: u3 hangs on what was not read"],
      ["B1-S1-u2 u3^u3", "whole: u3 hangs on what was not read"],
      ["B1-S1-u2 u3^s1 s1^s2~abc s2~abc", "whole: u3 hangs on what was not read"],
      ["B1-S1-u2 u3^p1 p1^S1", "whole: u3 hangs on a link that was written later"]
    ])
  })

  it("wants the whole log for a record that leads out of it", () => {
    all([
      ["B1{x1..x2>S1}-S1-u2", "whole: the messages that B1 keeps were not read"],
      ["B1{x1>x2}-S1-u2", "sufficient"],
      ["u0 B1{u0>x2}-S1-u2", "whole: the messages that B1 keeps were not read"],
      ["u0-a0-u1^x1-a1^a0 B1{a0..a1>S1}-S1-u2", "sufficient"],
      ["u0 B1{u0>u0}-S1-u2", "whole: the anchor of B1 stands before it"]
    ])
  })

  it("wants the whole log for a leaf or a snip that was not read", () => {
    all([
      ["B1-S1-u2 !x1", "whole: the last prompt names what was not read"],
      ["B1-S1 !x1 S1-u2", "sufficient"],
      ["u0 B1{u0>S1}-S1-u2 !x1", "sufficient"],
      ["B1-S1-u2-N1{x1}", "whole: a snip names what was not read"]
    ])
    all([["B1-S1-u2", "whole: the leaf u0 that is asked for was not read"]], { leaf: { uuid: "u0" } })
    all([["B1-S1-u2 !x1", "sufficient"]], { leaf: "newest" })
  })

  it("wants the whole log for a result at the end whose round it cannot see", () => {
    all([
      ["B1-S1-a2(B)-rA", "whole: a tool result answers what was not read"],
      ["B1-S1-a2(B)-rA-a3", "sufficient"],
      ["B1-S1-a1@k(A)-rA-u2-a2@k(B)-rB", "whole: replies share their ids"]
    ])
  })

  it("wants an earlier boundary where this one does not count", () => {
    all([
      ["B1", "earlier: the conversation does not start at the boundary"],
      ["B1-S1 u2-a2", "earlier: the conversation does not start at the boundary"],
      ["u1-a1", "whole: there is no boundary"],
      ["B1-S1-u2 B2", "sufficient"],
      ["B1-S1-u2 B2-S2 S1-u3", "whole: boundary B2 is passed over"],
      ["u0 B1{u0>S1}-S1-u2 B2-S2 S1-u3", "sufficient"]
    ])
  })
})
