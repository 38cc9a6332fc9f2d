import { assert, describe, it } from "@effect/vitest"
import * as Identifier from "@reprise/domain/Identifier"
import * as Lane from "@reprise/domain/Lane"
import { Schema } from "effect"

const Name = Schema.Union([
  Schema.Literals(["a", "b", "ab", "workflows", "a1b2c3", "aside_question-0f0f0f", "é", "a b"]),
  Schema.String.check(Schema.makeFilter((name) => Identifier.isAgentId(name)))
])
const Sidechain = Schema.Tuple([Name, Schema.Array(Name).check(Schema.isMaxLength(2))])

const show = Lane.match({
  Main: () => "main",
  Sidechain: ({ agentId, subPath }) => `${agentId} in [${subPath}]`
})

describe("Lane", () => {
  it("match tells the main lane from a sidechain", () => {
    assert.strictEqual(show(Lane.main), "main")
    assert.strictEqual(show(Lane.sidechain("a1")), "a1 in []")
    assert.strictEqual(show(Lane.sidechain("a1", ["workflows", "wf_1"])), "a1 in [workflows,wf_1]")
  })

  it("the key of a sidechain is its path below the folder of sidechains", () => {
    assert.strictEqual(Lane.key(Lane.main), "")
    assert.strictEqual(Lane.key(Lane.sidechain("a1")), "a1")
    assert.strictEqual(Lane.key(Lane.sidechain("a1", ["workflows", "wf_1"])), "workflows/wf_1/a1")
  })

  it.prop("keys are equal for equal lanes and for no others", [Sidechain, Sidechain], ([[a, as], [b, bs]]) => {
    const [one, other] = [Lane.sidechain(a, as), Lane.sidechain(b, bs)]
    assert.strictEqual(Lane.key(one) === Lane.key(other), show(one) === show(other))
    assert.strictEqual(Lane.key(one), Lane.key(Lane.sidechain(a, [...as])))
    assert.notStrictEqual(Lane.key(one), Lane.key(Lane.main))
  })
})
