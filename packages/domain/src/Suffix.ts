/**
 * Suffix: what a projection that saw only the end of a log says of what it did not see.
 *
 *   │ … not read … │ boundary … end │ ─▶ projection ─▶ { verdict, answer }
 *                                                       └ Sufficient · Earlier · Whole
 *
 * Storage reads and knows nothing of the answer; recovery judges and knows nothing of files. They meet here. A verdict
 * may rely on two things that hold of every log that was written forward: no line names a message that was written
 * after it by another line, and no message behind the boundary is a re-parented copy of one before it.
 */
import * as Data from "effect/Data"
import type { Located } from "./Line.ts"
import type { Projection } from "./Projection.ts"

/**
 * `Sufficient`: the whole log gives the same answer. `Earlier`: an earlier boundary may do. `Whole`: only the whole log
 * can tell, and why.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = Data.TaggedEnum<{
  readonly Sufficient: {}
  readonly Earlier: { readonly why: string }
  readonly Whole: { readonly why: string }
}>

const { Earlier, Sufficient, Whole } = Data.taggedEnum<Verdict>()

/**
 * The whole log gives the same answer.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sufficient: Verdict = Sufficient()

/**
 * An earlier boundary may do.
 *
 * @category constructors
 * @since 0.1.0
 */
export const earlier = (why: string): Verdict => Earlier({ why })

/**
 * Only the whole log can tell.
 *
 * @category constructors
 * @since 0.1.0
 */
export const whole = (why: string): Verdict => Whole({ why })

/**
 * How much of a log is read: from the last boundary on; also the metadata and snapshots before it; everything.
 *
 * @category models
 * @since 0.1.0
 */
export type History = "suffix" | "metadata" | "full"

/**
 * What the end of a log says of the conversation: whether that is the conversation of the whole log, and the answer with
 * what stands beside it, of the end alone (`suffix`) or of all of the log (`metadata`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Judged<out S, in B> {
  readonly verdict: Verdict
  readonly answer: (beside: B, history: "suffix" | "metadata") => S
}

/**
 * The projections for each amount of history: over the whole log; over its end, where it judges the conversation; and
 * over all that is read for what stands beside the conversation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Doors<out S, in out B> {
  readonly full: Projection<Located, S>
  readonly conversation: Projection<Located, Judged<S, B>>
  readonly beside: Projection<Located, B>
}
