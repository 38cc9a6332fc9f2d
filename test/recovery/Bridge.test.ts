import { assert, describe, it } from "@effect/vitest"
import * as Bridge from "@reprise/recovery/Bridge"
import { written } from "./picture.ts"

const all = () => true
const alone = (node: number) => node

/** What entry `owner` hangs on, by times in seconds; each node is a tree of its own. */
const bridged = (times: ReadonlyArray<number | undefined>, owner: number): number =>
  Bridge.make(times, all, alone)(owner)

describe("Bridge.timesOf", () => {
  it("reads timestamps in milliseconds", () => {
    const [first, second] = Bridge.timesOf(written("u1:1-a1:2.5").nodes)
    assert.strictEqual(second! - first!, 1500)
  })

  it("has no time where a timestamp is absent or unreadable", () => {
    const graph = written("u1:?-a1-u2-a2", {
      bodies: { a1: { timestamp: "yesterday" }, u2: { timestamp: "" }, a2: { timestamp: 7 } }
    })
    assert.deepStrictEqual(Bridge.timesOf(graph.nodes), [undefined, undefined, undefined, undefined])
  })
})

describe("Bridge.make", () => {
  it("finds the newest message that is not later", () => {
    assert.strictEqual(bridged([1, 2, 9, 5], 3), 1)
  })

  it("takes an equal time as not later", () => {
    assert.strictEqual(bridged([1, 5, 5], 2), 1)
  })

  it("of equal times takes the first in the file", () => {
    assert.strictEqual(bridged([1, 3, 3, 3, 5], 4), 1)
  })

  it("finds a message that stands later in the file", () => {
    assert.strictEqual(bridged([1, 5, 4], 1), 2)
  })

  it("does not mind how long ago it was", () => {
    assert.strictEqual(bridged([0, 10_000_000], 1), 0)
  })

  it("finds nothing where nothing older exists", () => {
    assert.strictEqual(bridged([3, 4, 1], 2), -1)
    assert.strictEqual(bridged([1], 0), -1)
  })

  it("without a time finds the message before it in the file, whenever that was", () => {
    assert.strictEqual(bridged([1, 9, undefined, 2], 2), 1)
    assert.strictEqual(bridged([undefined, undefined], 1), 0)
    assert.strictEqual(bridged([undefined, 1], 0), -1)
  })

  it("passes over the entry's own tree", () => {
    // 1 and 3 belong to the tree of 3.
    const find = Bridge.make([1, 2, 9, 3], all, (node) => (node === 1 ? 3 : node))
    assert.strictEqual(find(3), 0)
    const untimed = Bridge.make([1, 2, undefined], all, (node) => (node === 1 ? 2 : node))
    assert.strictEqual(untimed(2), 0)
  })

  it("passes over what is no candidate", () => {
    const find = Bridge.make([1, 2, 3, undefined], (node) => node !== 1 && node !== 2, alone)
    assert.strictEqual(find(2), 0)
    assert.strictEqual(find(3), 0)
  })

  it("sees trees that were joined since", () => {
    const trees = [0, 1, 2, 3]
    const find = Bridge.make([1, 2, 3, 4], all, (node) => trees[node]!)
    assert.strictEqual(find(3), 2)
    trees[2] = 3
    assert.strictEqual(find(3), 1)
    trees[1] = 3
    assert.strictEqual(find(3), 0)
  })

  it("stays fast where every entry is broken and all times are equal", () => {
    const size = 20_000
    const find = Bridge.make(
      Array.from({ length: size }, () => 1),
      all,
      () => 0
    )
    for (let owner = 0; owner < size; owner++) assert.strictEqual(find(owner), -1)
  })
})
