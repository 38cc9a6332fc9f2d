/**
 * Lane: which log of a session an entry belongs to.
 *
 *   <session>.jsonl                                  Main
 *   <session>/subagents/[<sub-path>/]agent-<id>.jsonl  Sidechain(agent, sub-path)
 *
 * Ids are a namespace per lane: the same uuid in the main lane and in a sidechain is normal.
 */
import * as Data from "effect/Data"

/**
 * The main lane, or the sidechain of one agent with the folder below `subagents` in which its file lies.
 *
 * @category models
 * @since 0.1.0
 */
export type Lane = Data.TaggedEnum<{
  readonly Main: {}
  readonly Sidechain: { readonly agentId: string; readonly subPath: ReadonlyArray<string> }
}>

const { $match, Main, Sidechain } = Data.taggedEnum<Lane>()

/**
 * The lane that people talk to.
 *
 * @category constructors
 * @since 0.1.0
 */
export const main: Lane = Main()

/**
 * The lane of one agent; `subPath` holds the folders between `subagents` and the file, outermost first.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sidechain = (agentId: string, subPath: ReadonlyArray<string> = []): Lane => Sidechain({ agentId, subPath })

/**
 * Branches on the lane.
 *
 * @category combinators
 * @since 0.1.0
 */
export const match = $match

/**
 * A string that is equal for equal lanes, for use as a map key; an agent id and a folder name never hold `/`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const key: (lane: Lane) => string = $match({
  Main: () => "",
  Sidechain: ({ agentId, subPath }) => [...subPath, agentId].join("/")
})
