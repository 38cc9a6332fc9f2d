/**
 * Forks: what is promised about the copy of a session (LAWS, Fork and rewind).
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Entry from "@reprise/domain/Entry"
import * as Fork from "@reprise/domain/Fork"
import * as Projection from "@reprise/domain/Projection"
import * as Verbatim from "@reprise/domain/Verbatim"
import * as LogLines from "@reprise/domain/testing/live/LogLines"
import * as ForkPlan from "../../ForkPlan.ts"
import * as ModelMessages from "../../ModelMessages.ts"
import * as Round from "../../Round.ts"
import type { SessionState } from "../../SessionState.ts"
import * as Law from "../Law.ts"

const names: Fork.Names = { source: "source", target: "target", idOf: (uuid) => `${uuid}'` }

/**
 * The bytes of a fork, as storage would write them; undefined where there is nothing to fork at.
 *
 * @category running
 * @since 0.1.0
 */
export const fork = (
  bytes: Uint8Array,
  options: { readonly at?: string } = {},
  named: Fork.Names = names
): { readonly plan: Fork.Plan; readonly bytes: Uint8Array } | undefined => {
  const planned = Projection.fold(ForkPlan.projection(options), Law.read(bytes))
  if (planned._tag === "Failure") return undefined
  const copy = Fork.copying(named)
  const parts: Array<Uint8Array> = []
  const { prompts, steps } = planned.success
  const at = ({ byteEnd, byteStart }: Fork.Place): Uint8Array => bytes.subarray(byteStart, byteEnd)
  for (const step of steps) {
    const copied = copy(at(step), step)
    if (copied !== undefined) parts.push(Verbatim.bytesOf(copied), Law.bytesOf("\n"))
  }
  const said = prompts && { first: Fork.promptIn(at(prompts.first)), last: Fork.promptIn(at(prompts.last)) }
  const { entries } = Fork.ending(planned.success, named, said)
  for (const entry of entries) parts.push(Law.bytesOf(`${JSON.stringify(entry)}\n`))
  return { plan: planned.success, bytes: LogLines.concat(parts) }
}

/** Any message of the main lane, half of the time one of the conversation. */
const pointOf = (given: Law.OfLog, state: SessionState): string | undefined => {
  const all = Law.read(given.bytes).flatMap(({ entry }) =>
    Entry.isMessage(entry) && entry.isSidechain !== true && entry.uuid !== "" ? [entry.uuid] : []
  )
  const from = Law.choose(given, 0, 2) === 0 ? Law.idsOf(state) : all
  return from[Law.choose(given, 1, from.length)]
}

/**
 * The conversation, what stands between two turns in one order: inside a round it is free.
 *
 * @category getters
 * @since 0.1.0
 */
export const settled = ({ conversation }: SessionState, idOf: Fork.Names["idOf"] = (uuid) => uuid): string => {
  const rounds: Array<Array<string>> = []
  const replies = new Set<string>()
  for (const node of conversation) {
    const { reply, uuid } = node
    const goesOn = reply === undefined ? Round.isNote(node) || node.answers.length > 0 : replies.has(reply)
    if (reply !== undefined) replies.add(reply)
    if (goesOn && rounds.length > 0) rounds.at(-1)!.push(idOf(uuid))
    else rounds.push([idOf(uuid)])
  }
  return rounds.map((round) => round.toSorted().join("-")).join(" ")
}

const chain = Law.log("fork(x) is the chain to x up to ids, with the source's texts", (given, reader) => {
  const at = pointOf(given, reader(Law.read(given.bytes)))
  const forked = at === undefined ? undefined : fork(given.bytes, { at })
  if (at === undefined || forked === undefined) return true
  const source = reader(Law.read(given.bytes), { leaf: { uuid: at } })
  if (keepsBoundary(source)) return true
  const copy = reader(Law.read(forked.bytes))
  return Law.all(
    () => Law.same(`fork at ${at}`, settled(source, names.idOf), settled(copy)),
    () => Law.same("messages", String(forked.plan.messages), String(copy.messages)),
    () => Law.same("branches", "[]", JSON.stringify(copy.branches)),
    () => Law.same("texts", texts(source), texts(copy))
  )
})

/** A record that keeps another boundary, which no session writes: what it archives cannot be archived in a copy. */
const keepsBoundary = ({ conversation }: SessionState): boolean =>
  conversation.slice(1).some(({ entry }) => Boundary.isCompact(entry))

/** What the messages say, without what names them. */
const texts = ({ conversation }: SessionState): string =>
  conversation
    .map(({ entry }) => {
      const { attachment, content, message } = Entry.original(entry) as { readonly [key: string]: unknown }
      return JSON.stringify([entry.type, message, content, attachment])
    })
    .toSorted()
    .join("\n")

const whole = Law.log("a fork of the whole session is sent to a model as the session is", ({ bytes }, reader) => {
  const forked = fork(bytes)
  if (forked === undefined) return true
  const source = reader(Law.read(bytes))
  if (keepsBoundary(source)) return true
  const copy = reader(Law.read(forked.bytes))
  return Law.all(
    () => Law.same("conversation", settled(source, names.idOf), settled(copy)),
    () =>
      Law.same(
        "for the model",
        sent(source, names.idOf),
        sent(copy, (uuid) => uuid)
      )
  )
})

const sent = (state: SessionState, idOf: Fork.Names["idOf"]): string =>
  ModelMessages.make(state)
    .messages.map(({ parts, role, uuids }) => {
      const blocks = parts.map((part) => JSON.stringify(part)).toSorted()
      return `${role} ${uuids.map(idOf).toSorted().join()} ${blocks.join()}`
    })
    .join("\n")

const again = Law.log("forking a fork is forking", ({ bytes }, reader) => {
  const forked = fork(bytes)
  if (forked === undefined) return true
  const twice = fork(forked.bytes)
  if (twice === undefined) return "the fork cannot be forked"
  return Law.same(
    "conversation",
    settled(reader(Law.read(forked.bytes)), names.idOf),
    settled(reader(Law.read(twice.bytes)))
  )
})

const clean = Law.log(
  "no message of a fork is named by its id in the source, but as its origin",
  ({ bytes }, reader) => {
    const forked = fork(bytes)
    if (forked === undefined) return true
    const ids = new Set(Law.idsOf(reader(Law.read(bytes))))
    for (const line of Law.linesOf(forked.bytes)) {
      const {
        forkedFrom: _,
        message: __,
        content: ___,
        ...rest
      } = JSON.parse(line) as { readonly [key: string]: unknown }
      for (const id of ids) if (JSON.stringify(rest).includes(`"${id}"`)) return `${id} in ${JSON.stringify(rest)}`
    }
    return true
  }
)

/**
 * The laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law.Law> = [chain, whole, again, clean]
