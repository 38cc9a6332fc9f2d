import { assert, describe, it } from "@effect/vitest"
import * as Nodes from "@reprise/recovery/Nodes"
import type { Node } from "@reprise/recovery/SessionGraph"

const node = (index: number): Node => ({
  index,
  seq: index,
  uuid: `u${index}`,
  at: { line: index + 1, byteStart: 0, byteEnd: 0 },
  entry: { type: "user", uuid: `u${index}`, parentUuid: null, message: { role: "user", content: "" } } as Node["entry"],
  reply: undefined,
  calls: [],
  answers: []
})

describe("Nodes", () => {
  it("are asked for by their index, also where none is held", () => {
    const made: Array<number> = []
    const lazy = Nodes.make(3, (index) => {
      made.push(index)
      return node(index)
    })
    for (const nodes of [Nodes.of([node(0), node(1), node(2)]), lazy]) {
      assert.strictEqual(nodes.length, 3)
      assert.deepStrictEqual(
        [-1, 0, 2, 3].map((index) => nodes.get(index)?.uuid),
        [undefined, "u0", "u2", undefined]
      )
      assert.deepStrictEqual(
        Array.from(nodes, ({ uuid }) => uuid),
        ["u0", "u1", "u2"]
      )
    }
    assert.deepStrictEqual(made, [0, 2, 0, 1, 2])
  })
})
