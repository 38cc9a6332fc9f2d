/**
 * PlanFiles: the plans of sessions, in files.
 *
 *   <config>/plans/<slug>.md
 *
 * 1. A plan is changed as it is worked on: a session that goes on under another name gets a copy.
 * 2. What is there already is left alone. What is gone is written from its last text, where a log has it.
 * 3. Names come from a log, which is not trusted: one that leads out of the folder, or to a link, is that of no plan.
 */
import * as Effect from "effect/Effect"
import * as path from "node:path"
import * as Bringing from "./internal/bringing.ts"
import * as Directories from "./internal/directories.ts"

/**
 * A plan: the folder of all plans, and its name among them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly plans: string
  readonly slug: string
}

/**
 * Brings a plan from the first of some places that has it, else writes its `text`; gives what became of it.
 *
 * @category running
 * @since 0.1.0
 */
export const bring = Effect.fn("PlanFiles.bring")(function* (options: {
  readonly from: ReadonlyArray<Place>
  readonly to: Place
  readonly text?: string | undefined
}) {
  const { text } = options
  const to = fileOf(options.to)
  return yield* Effect.try({
    try: (): Bringing.Brought => {
      const changed: Directories.Changed = new Set()
      if (to === undefined) return "gone"
      const from = options.from.flatMap((place) => fileOf(place) ?? [])
      const how = Bringing.bring(from, to, "copy", changed)
      if (how === "gone" && text !== undefined) Bringing.write(to, text, changed)
      const failure = Directories.sync(changed)
      if (failure !== null) throw failure
      return how === "gone" && text !== undefined ? "brought" : how
    },
    catch: Bringing.errorOf(to ?? "")
  })
})

const fileOf = ({ plans, slug }: Place): string | undefined => {
  const name = `${slug}.md`
  return slug !== "" && Bringing.isName(name) ? path.join(plans, name) : undefined
}
