/**
 * ModelView: what is promised about what is sent (RECOVERY §10, §11).
 */
import * as Content from "@reprise/domain/Content"
import * as History from "@reprise/domain/testing/History"
import * as Step from "@reprise/domain/testing/Step"
import * as Interruption from "../../Interruption.ts"
import * as ModelMessages from "../../ModelMessages.ts"
import * as Law from "../Law.ts"

/** What the Messages API would refuse. */
const refusal = (messages: ReadonlyArray<ModelMessages.ModelMessage>): string | undefined => {
  let open: ReadonlyArray<string> = []
  for (const [i, { parts, role }] of messages.entries()) {
    if (role !== (i % 2 === 0 ? "user" : "assistant")) return `message ${i} is the ${role}'s`
    if (parts.length === 0) return `message ${i} is empty`
    const blocks = parts.map(({ block }) => block)
    if (blocks.some((block) => Content.isText(block) && block.text === "")) return `message ${i} has an empty text`
    if (role === "assistant") {
      if (blocks.every((block) => block.type === "thinking" || block.type === "redacted_thinking"))
        return `message ${i} only thinks`
      open = blocks.filter(Content.isToolUse).map(({ id }) => id)
      if (new Set(open).size !== open.length) return `message ${i} calls twice under one id`
      continue
    }
    const results = blocks.filter(Content.isToolResult).map(({ tool_use_id }) => tool_use_id)
    if (results.toSorted().join() !== open.toSorted().join())
      return `message ${i} answers ${results.join()}, asked was ${open.join()}`
    const late = blocks.findIndex((block) => !Content.isToolResult(block))
    if (late >= 0 && blocks.slice(late).some(Content.isToolResult)) return `message ${i} has a result behind its text`
    open = []
  }
  if (open.length > 0) return `${open.join()} at the end is not answered`
  return JSON.stringify(messages).isWellFormed() ? undefined : "a text is not well-formed"
}

const legal = Law.log("what is sent is legal, for any truncation of any log", (given, reader) => {
  const state = reader(Law.read(given.bytes.subarray(0, Law.choose(given, 0, given.bytes.length + 1))))
  for (const unresolved of ["drop", "close"] as const) {
    const { messages } = ModelMessages.make(state, { unresolved })
    const breach = refusal(messages)
    if (breach !== undefined) return `${unresolved}: ${breach} in ${Law.shown(state)}`
  }
  return true
})

const accounted = Law.log("each entry of the conversation is sent, or left out for a reason", (given, reader) => {
  const state = reader(Law.read(given.bytes))
  const { messages, omitted } = ModelMessages.make(state)
  const sent = new Set(messages.flatMap(({ uuids }) => uuids))
  const left = new Set(omitted.map(({ uuid }) => uuid))
  const silent = Law.idsOf(state).find((id) => !sent.has(id) && !left.has(id))
  if (silent !== undefined) return `${silent} is neither sent nor left out`
  return left.size === omitted.length
    ? true
    : `left out twice: ${omitted.map(({ uuid, why }) => `${uuid} ${why}`).join()}`
})

const interrupted = Law.history("how the last turn ended", ({ history }, reader) => {
  const { sees } = history
  if (sees.interruption === undefined) return true
  const state = reader(History.log(history))
  return Law.same(
    "interruption",
    sees.interruption,
    Interruption.judge(state.conversation, ModelMessages.make(state)).kind
  )
})

/** What is sent, with the parts of each message in one order. */
const sent = (messages: ReadonlyArray<ModelMessages.ModelMessage>): ReadonlyArray<string> =>
  messages.map(
    ({ parts, role }) =>
      `${role} ${parts
        .map((part) => JSON.stringify(part))
        .toSorted()
        .join()}`
  )

const resumed = Law.history("resuming many times is resuming once", (given, reader) => {
  const goOn = (steps: ReadonlyArray<Step.Step>): string => {
    const { bytes, sees } = History.make(steps)
    const state = reader(Law.read(bytes))
    const view = ModelMessages.make(state)
    const interruption = Interruption.judge(state.conversation, view)
    const settled = History.settle(Law.idsOf(state), sees.rounds)
    // A program that goes on inside a round names another leaf of it than the last line: its order is free.
    const kind = sees.interruption === undefined ? undefined : interruption.kind
    return JSON.stringify([
      settled,
      kind,
      sent(Interruption.inject(view, { ...interruption, kind: kind ?? "none" } as Interruption.Interruption).messages)
    ])
  }
  const { steps } = given.history
  const times = 1 + Law.choose(given, 0, 4)
  return Law.same(
    `resumed ${times} times`,
    goOn(steps),
    goOn([...steps, ...Array.from({ length: times }, () => Step.Resume())])
  )
})

/**
 * The laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law.Law> = [legal, accounted, interrupted, resumed]
