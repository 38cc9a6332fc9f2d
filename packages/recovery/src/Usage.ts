/**
 * Usage: the tokens that a session used, each reply counted once.
 *
 *   a1 {output 2}  a2 {output 30}  a3 {output 410}        one reply in three lines: 410
 *
 * 1. Up to 2.1.242 only the last line of a reply has its final usage: the last value stands.
 * 2. A reply is what shares `message.id` until the next prompt; a gateway may give every reply the same id.
 * 3. A line that stands twice counts once. Tokens of branches that were left were used all the same.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Projection from "@reprise/domain/Projection"
import * as Round from "./Round.ts"

/**
 * Tokens, by what they were used for.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheCreation: number
}

/**
 * The usage of a session, and of each model in it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Usage extends Tokens {
  readonly replies: number
  readonly byModel: ReadonlyMap<string, Tokens & { readonly replies: number }>
}

interface Draft {
  readonly replies: Array<{ readonly model: string; readonly tokens: Tokens }>
  /** Since the last prompt: where each reply stands in `replies`. */
  readonly current: Map<string, number>
}

/**
 * Folds messages, each of which comes once, to the usage of those that are of no sidechain.
 *
 * @category projections
 * @since 0.1.0
 */
export const ofParts: Projection.Projection<Round.Part, Usage> = Projection.make({
  initial: (): Draft => ({ replies: [], current: new Map() }),
  evolve: (draft, part: Round.Part) => {
    const { entry } = part
    if (entry.isSidechain === true) return draft
    if (Round.isPrompt(part)) draft.current.clear()
    if (entry.type !== "assistant" || !entry.message.usage) return draft
    const id = Round.replyOf(entry) ?? entry.uuid
    const reply = { model: entry.message.model ?? "", tokens: tokensOf(entry.message.usage) }
    const known = draft.current.get(id)
    if (known === undefined) draft.current.set(id, draft.replies.push(reply) - 1)
    else draft.replies[known] = reply
    return draft
  },
  extract: ({ replies }) => {
    const all = { ...nothing }
    const byModel = new Map<string, typeof all>()
    for (const { model, tokens } of replies) {
      let own = byModel.get(model)
      if (own === undefined) byModel.set(model, (own = { ...nothing }))
      add(all, tokens)
      add(own, tokens)
    }
    return { ...all, byModel }
  }
})

/**
 * Folds entries to the usage of the main lane.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection: Projection.Projection<Entry.Entry, Usage> = Projection.make({
  initial: () => ({ seen: new Set<string>(), usage: Projection.run(ofParts) }),
  evolve: (draft, entry: Entry.Entry) => {
    if (!Entry.isMessage(entry) || entry.isSidechain === true || draft.seen.has(entry.uuid)) return draft
    draft.seen.add(entry.uuid)
    draft.usage.evolve(Round.read(entry))
    return draft
  },
  extract: ({ usage }) => usage.extract()
})

const nothing = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0, replies: 0 }

const add = (sum: typeof nothing, tokens: Tokens): void => {
  sum.input += tokens.input
  sum.output += tokens.output
  sum.cacheRead += tokens.cacheRead
  sum.cacheCreation += tokens.cacheCreation
  sum.replies++
}

const tokensOf = (usage: NonNullable<Entry.OfKind<"assistant">["message"]["usage"]>): Tokens => ({
  input: usage.input_tokens ?? 0,
  output: usage.output_tokens ?? 0,
  cacheRead: usage.cache_read_input_tokens ?? 0,
  cacheCreation: usage.cache_creation_input_tokens ?? 0
})
