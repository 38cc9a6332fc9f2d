/** Which of several boundaries counts (RECOVERY §5). */
import { assert, describe, it } from "@effect/vitest"
import * as Recovery from "@reprise/recovery/Recovery"
import * as Notation from "@reprise/domain/testing/Notation"
import { findings, log, places, recover, recovers, rest } from "../picture.ts"

describe("Of two boundaries", () => {
  it("the last one counts", () => {
    const picture = "u1-a1 B1{a1>S1}-S1-u2-a2 B2{a2>S2}-S2-u3"
    assert.strictEqual(recovers(picture), "B2-S2-a2-u3")
    assert.strictEqual(rest(picture), "archived 5")
    assert.strictEqual(findings(picture), "")
  })

  it("the last one counts also where only the first has a record", () => {
    assert.strictEqual(recovers("u1-a1 B1{a1>S1}-S1-u2-a2 B2-S2-u3"), "B2-S2-u3")
  })

  it("the last one may keep what the first one kept, or archived", () => {
    assert.strictEqual(recovers("u1-a1 B1{a1>S1}-S1-u2-a2 B2{a1,u2,a2>S2}-S2-u3"), "B2-S2-a1-u2-a2-u3")
    assert.strictEqual(recovers("u1-a1 B1-S1-u2-a2 B2{u1,a1>S2}-S2-u3"), "B2-S2-u1-a1-u3")
  })

  it("the last one may keep a segment that runs through messages which the first one kept", () => {
    const conversation = recovers("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3 B2{u2..a3>S2}-S2-u4")
    assert.include(["B2-S2-u2-a2-u3-a3-u4", "B2-S2-u4"], conversation)
  })
})

describe("A boundary on an abandoned branch", () => {
  // B2 summed up the branch of u3; the conversation was rewound to a2 and went on there.
  const rewound = "u1-a1 B1-S1-u2-a2-u3-a3 B2{a3>S2}-S2-u4 a2-w1-u5"

  it("is passed over, and the one before it is tried", () => {
    assert.strictEqual(recovers(rewound), "B1-S1-u2-a2-w1-u5")
  })

  it("is passed over in favour of an earlier record", () => {
    const picture = "u1-a1 B1{a1>S1}-S1-u2-a2-u3-a3 B2{a3>S2}-S2-u4 u2-w1-u5"
    assert.strictEqual(recovers(picture), "B1-S1-a1-u2-w1-u5")
  })

  it("is reported at its line", () => {
    assert.strictEqual(findings(rewound), "boundary-off-chain B2")
    assert.strictEqual(places(recover(rewound).findings, log(rewound)), "boundary-off-chain@B2")
  })

  it("keeps its messages on its own branch alone", () => {
    assert.strictEqual(recovers(rewound, { leaf: { uuid: "u4" } }), "B2-S2-a3-u4")
  })

  it("leaves a rewind where it points, right after the compaction, too", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>S1}-S1 a1-w1"), "u1-a1-w1")
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>S1}-S1 a1-w1-u3-a3"), "u1-a1-w1-u3-a3")
  })

  it("leaves a chain that does not pass any boundary whole", () => {
    const picture = "u1-a1-u2-a2 B1-S1-u3-a3 a1-u4-a4"
    assert.strictEqual(recovers(picture), "u1-a1-u4-a4")
    assert.strictEqual(findings(picture), "")
    assert.strictEqual(rest(picture), "a3<root ×4; a2<a1 ×2")
  })

  it("prunes where a boundary before it has a record: what hung on the pruned hangs behind it", () => {
    assert.strictEqual(recovers("u1-a1 B1{a1>S1}-S1-u2-a2-u3-a3 B2-S2-u4 a2-u5"), "B2-S2-u4-u5")
    assert.strictEqual(recovers("u1-a1 B1-S1-u2-a2-u3-a3 B2-S2-u4 a2-u5"), "B1-S1-u2-a2-u5")
  })

  it("is passed over by a rewind to before it, also where it prunes", () => {
    assert.strictEqual(recovers("u1-a1 B1{a1>S1}-S1-u2-a2-u3-a3 B2-S2-u4 a2-w1-u5"), "B1-S1-a1-u2-a2-w1-u5")
  })
})

describe("A rewind to a kept message", () => {
  it("stays behind the boundary that keeps it: the conversation is what it was when that message was last", () => {
    assert.strictEqual(recovers("u1-a1 B1{a1>S1}-S1"), "B1-S1-a1")
    assert.strictEqual(recovers("u1-a1 B1{a1>S1}-S1-u2-a2 a1-w1-u3"), "B1-S1-a1-w1-u3")
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3 u2-w1"), "B1-S1-u2-w1")
    assert.strictEqual(recovers("u1-a1 B1{a1>S1}-S1-u2-a2 B2{a1,a2>S2}-S2-u3 a1-w1"), "B2-S2-a1-w1")
  })

  it("and one behind it go where they point", () => {
    assert.strictEqual(recovers("u1-a1 B1{a1>S1}-S1-u2-a2-u3 a2-w1"), "B1-S1-a1-u2-a2-w1")
    assert.strictEqual(recovers("u1-a1 B1{a1>S1}-S1-u2-a2 u1-w1-u3"), "u1-w1-u3")
  })
})

describe("A boundary with nothing after it", () => {
  it("is ignored: the chain before it stands", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1"), "u1-a1-u2-a2")
    assert.strictEqual(findings("u1-a1-u2-a2 B1"), "boundary-unfinished B1")
    assert.strictEqual(places(recover("u1-a1 B1").findings, log("u1-a1 B1")), "boundary-unfinished@B1")
  })

  it("is ignored with its record", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>x9}"), "u1-a1-u2-a2")
  })

  it("is ignored with the attachments that were written before the kill", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1-t1-t2"), "u1-a1-u2-a2")
  })

  it("is ignored when its parent is written", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2-B1"), "u1-a1-u2-a2")
  })

  it("is ignored in favour of a finished one before it", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{a2>S1}-S1-u3 B2{u3>x9}"), "B1-S1-a2-u3")
  })

  it("is ignored when the session goes on before it", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1 a2-u3-a3"), "u1-a1-u2-a2-u3-a3")
  })

  it("and nothing before it is an empty conversation, but for itself", () => {
    assert.include(["", "B1"], recovers("B1"))
  })
})

describe("What stands before the boundary", () => {
  const whole = "u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3"

  it("and is not kept is archived, not lost: counted", () => {
    assert.strictEqual(rest(whole), "archived 2")
  })

  it("is archived with the branches that stood there", () => {
    assert.strictEqual(rest("u1-a1-u9 a1-u2-a2 B1{u2,a2>S1}-S1-u3"), "archived 3")
  })

  it("is reachable by the state as it was then", () => {
    const entries = log(whole)
    assert.strictEqual(Notation.show(Recovery.stateAt(entries, 4).conversation), "u1-a1-u2-a2")
  })

  it("need not be read: the kept messages and what follows give the same conversation", () => {
    assert.strictEqual(recovers("x1-u2-a2 B1{u2,a2>S1}-S1-u3-a3"), recovers(whole))
    assert.strictEqual(recovers("B1-S1-u3-a3"), recovers("u1-a1-u2-a2 B1-S1-u3-a3"))
    assert.strictEqual(recovers("x1-u2-a2 B1{u2..a2>S1}-S1-u3-a3"), recovers("u1-a1-u2-a2 B1{u2..a2>S1}-S1-u3-a3"))
  })
})
