import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Subagents from "@reprise/recovery/Subagents"

/** A log in which results speak of agents: `{ rA: "abc" }`. */
const logOf = (picture: string, spawns: Record<string, string> = {}): ReadonlyArray<Line.Located> => {
  const lines = new TextDecoder().decode(Notation.bytes(picture)).trimEnd().split("\n")
  const spoken = lines.map((line) => {
    const agentId = spawns[JSON.parse(line).uuid]
    return agentId === undefined
      ? line
      : line.replace(/\}$/, `,"toolUseResult":${JSON.stringify({ agentId, agentType: "T" })}}`)
  })
  return Line.decodeAll(new TextEncoder().encode(spoken.join("\n")))
}
const lead = (picture: string, spawns?: Record<string, string>) =>
  Projection.fold(Subagents.lead, logOf(picture, spawns))
const agent = (agentId: string, picture: string, spawns?: Record<string, string>, meta?: Subagents.Meta) => ({
  agentId,
  meta,
  source: agentId,
  ...Projection.fold(Subagents.agent, logOf(picture, spawns))
})

/** The tree as text: `a(b c)`. */
const drawn = (agents: ReadonlyArray<Subagents.Agent<string>>): string =>
  agents.map(({ agents, source }) => (agents.length === 0 ? source : `${source}(${drawn(agents)})`)).join(" ")

describe("Subagents", () => {
  it("hangs each agent on the lane whose result speaks of it, else on what its file says, else on the lead", () => {
    const main = lead("u1-a1(A)-rA-a2", { rA: "one" })
    const agents = [
      agent("three", "u1~three"),
      agent("two", "u1~two"),
      agent("one", "u1~one-a1(B)~one-rB~one", { rB: "two" }),
      agent("four", "u1~four", {}, { parentAgentId: "two" }),
      agent("five", "u1~five", {}, { parentAgentId: "nobody" })
    ]
    const tree = Subagents.tree(main, agents)
    assert.strictEqual(drawn(tree), "three one(two(four)) five")
    assert.deepStrictEqual(
      tree.map(({ spawn }) => spawn),
      [null, { agentId: "one", uuid: "rA", toolUseId: "A", agentType: "T" }, null]
    )
  })

  it("has each agent once where records make a circle or an agent speaks of itself", () => {
    const main = lead("u1")
    const circle = [
      agent("one", "u1~one-a1(B)~one-rB~one", { rB: "two" }),
      agent("two", "u1~two-a1(B)~two-rB~two", { rB: "one" }),
      agent("me", "u1~me-a1(B)~me-rB~me", { rB: "me" }, { parentAgentId: "me" })
    ]
    assert.match(drawn(Subagents.tree(main, circle)), /^(one\(two\)|two\(one\)) me$/)
  })

  it("nests agents as deep as they are, in time in proportion to their number", () => {
    const main = lead("u1")
    const lane = Projection.fold(Subagents.agent, logOf("u1~x"))
    const chain = Array.from({ length: 20_000 }, (_, i) => ({
      agentId: `a${i}`,
      meta: { parentAgentId: `a${i + 1}` },
      source: `a${i}`,
      ...lane
    }))
    for (const agents of [chain, chain.toReversed()]) {
      let [at] = Subagents.tree(main, agents)
      let depth = 0
      for (; at !== undefined; [at] = at.agents) depth++
      assert.strictEqual(depth, chain.length)
    }
    const [first, ...others] = chain
    const circle = [
      { ...first!, meta: { parentAgentId: "a5" } },
      ...others.slice(0, 5).map((one, i) => ({ ...one, meta: { parentAgentId: `a${i}` } }))
    ]
    assert.strictEqual(drawn(Subagents.tree(main, circle)), "a5(a0(a1(a2(a3(a4)))))")
  })

  it("finds a long agent inside of an old main log in time in proportion to its length, and one that is a circle", () => {
    const message = (uuid: string, parentUuid: string | null) =>
      `${JSON.stringify({ type: "user", uuid, parentUuid, isSidechain: true, message: { content: uuid } })}\n`
    const inlineOf = (lines: ReadonlyArray<string>) =>
      Projection.fold(Subagents.lead, Line.decodeAll(new TextEncoder().encode(lines.join("")))).inline
    const long = Array.from({ length: 20_000 }, (_, i) => message(`s${i}`, i === 0 ? null : `s${i - 1}`))
    for (const lines of [long, long.toReversed()]) {
      const [one, ...others] = inlineOf(lines)
      assert.deepStrictEqual([one!.root, one!.state.messages, others.length], ["s0", long.length, 0])
    }
    const circle = inlineOf([message("a", "c"), message("b", "a"), message("c", "b"), message("d", "c")])
    assert.deepStrictEqual(
      circle.map(({ state }) => state.messages),
      [4]
    )
  })

  it("finds the agents inside of an old main log, by id or by their root", () => {
    const unnamed = (picture: string) => picture.replaceAll(/"agentId":"none",?/g, "")
    const text = unnamed(
      new TextDecoder().decode(Notation.bytes("u1-a1 x1-s1~none-s2~none u1-a2 x2-s3~none s2-s4~none x3-s5~abc"))
    )
    const { inline, state } = Projection.fold(Subagents.lead, Line.decodeAll(new TextEncoder().encode(text)))
    assert.deepStrictEqual(
      inline.map(({ agentId, root, state }) => [agentId, root, state.messages]),
      [
        [null, "s1", 3],
        [null, "s3", 1],
        ["abc", "s5", 1]
      ]
    )
    assert.deepStrictEqual(
      state.conversation.map(({ uuid }) => uuid),
      ["u1", "a2"]
    )
  })

  it("recovers a lane with ids of its lead, says how it ended, and what it goes on from", () => {
    const main = lead("u1-a1-u2-a2")
    const copied = agent("copy", "u1~copy-a1~copy-u9~copy")
    const on = agent("on", "t1^a1~on-u8~on-a8(A)~on-rA~on")
    const [one, two] = Subagents.tree(main, [copied, on])
    assert.deepStrictEqual(
      one!.state.conversation.map(({ uuid }) => uuid),
      ["u1", "a1", "u9"]
    )
    assert.deepStrictEqual([one!.interruption.kind, one!.inherited.length], ["interrupted-prompt", 0])
    assert.deepStrictEqual(
      two!.inherited.map(({ uuid }) => uuid),
      ["u1", "a1"]
    )
    assert.strictEqual(two!.interruption.kind, "interrupted-turn")
    assert.strictEqual(two!.view.messages.at(-1)?.role, "user")
  })
})
